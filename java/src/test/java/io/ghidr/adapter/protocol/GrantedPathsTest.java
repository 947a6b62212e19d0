package io.ghidr.adapter.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ghidr.adapter.json.Fields;
import io.ghidr.adapter.json.JsonException;
import io.ghidr.adapter.json.StrictReader;
import io.ghidr.adapter.protocol.GrantedPaths.Access;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GrantedPathsTest {
  private static final String GRANTS =
      "{\"grants\":[{\"path\":\"/r\",\"access\":\"read\"},{\"path\":\"/w/x\",\"access\":\"write\"}]}";

  private static Fields fields(String text) throws Exception {
    return StrictReader.read(
        new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), 10_000);
  }

  private static GrantedPaths paths() throws Exception {
    return GrantedPaths.from(fields(GRANTS).objects("grants"));
  }

  @Test
  void acceptsTheRootAndWhatIsBelow() throws Exception {
    assertEquals(Path.of("/r"), paths().require("f", "/r", Access.READ));
    assertEquals(Path.of("/r/a b,c"), paths().require("f", "/r/a b,c", Access.READ));
    assertEquals(Path.of("/w/x/y"), paths().require("f", "/w/x/y", Access.READ));
    assertEquals(Path.of("/w/x/y"), paths().require("f", "/w/x/y", Access.WRITE));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "r",
        "./r",
        "/r/",
        "//r",
        "/r/../etc",
        "/r/./a",
        "/rr",
        "/w",
        "/",
        "/r\n",
        "/r\0"
      })
  void refusesOtherSpellingsAndPlaces(String path) {
    JsonException e =
        assertThrows(JsonException.class, () -> paths().require("f", path, Access.READ));
    assertEquals("f", e.field());
  }

  @Test
  void readAccessIsNotWriteAccess() {
    assertThrows(JsonException.class, () -> paths().require("f", "/r/a", Access.WRITE));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"grants\":[{\"path\":\"r\",\"access\":\"read\"}]}",
        "{\"grants\":[{\"path\":\"/r\",\"access\":\"execute\"}]}",
        "{\"grants\":[{\"path\":\"/r\",\"access\":\"read\",\"x\":1}]}",
        "{\"grants\":[{\"path\":\"/r\"}]}"
      })
  void refusesBadGrants(String text) {
    assertThrows(JsonException.class, () -> GrantedPaths.from(fields(text).objects("grants")));
  }
}
