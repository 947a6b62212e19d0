package io.ghidr.adapter.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StrictReaderTest {
  private static Fields read(String text) throws IOException, JsonException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return StrictReader.read(new ByteArrayInputStream(bytes), 1 << 20);
  }

  @Test
  void takesEveryType() throws Exception {
    Fields fields =
        read(
            "{\"s\":\"\\u00e9\\n\",\"i\":-7,\"n\":null,\"o\":{\"x\":1},\"a\":[\"p\",\"q\"],"
                + "\"l\":[{\"y\":2}],\"m\":null}");
    assertEquals("é\n", fields.string("s"));
    assertEquals(-7, fields.integer("i", -7, 0));
    assertNull(fields.integerOrNull("n", 0, 1));
    assertNull(fields.objectOrNull("m"));
    Fields object = fields.object("o");
    assertEquals("o.x", object.pathOf("x"));
    assertEquals(1, object.integer("x", 0, 1));
    object.end();
    assertEquals(List.of("p", "q"), fields.strings("a"));
    assertEquals("l[0].y", fields.objects("l").get(0).pathOf("y"));
    fields.end();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "[]",
        "1",
        "{",
        "{}{}",
        "{} x",
        "{\"a\":1,}",
        "{\"a\":[1,]}",
        "{'a':1}",
        "{a:1}",
        "{\"a\":1;\"b\":2}",
        "{\"a\"=1}",
        "{\"a\":True}",
        "{\"a\":NaN}",
        "{\"a\":1.0}",
        "{\"a\":1e2}",
        "{\"a\":01}",
        "{\"a\":-}",
        "{\"a\":9223372036854775808}",
        "{\"a\":\"\\'\"}",
        "{\"a\":\"\\u00g0\"}",
        "{\"a\":\"\t\"}",
        "{\"a\":\"",
        "//x\n{}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":{\"b\":1,\"\\u0062\":2}}",
        "\uFEFF{}",
        ")]}'\n{}"
      })
  void refusesWhatIsNotStrict(String text) {
    assertThrows(JsonException.class, () -> read(text));
  }

  @Test
  void namesTheDuplicateField() {
    JsonException e = assertThrows(JsonException.class, () -> read("{\"a\":{\"b\":1,\"b\":1}}"));
    assertEquals("a.b", e.field());
    assertEquals("duplicate field", e.getMessage());
  }

  @Test
  void refusesDeepNesting() throws Exception {
    read("{\"a\":" + "[".repeat(14) + "]".repeat(14) + "}");
    assertThrows(
        JsonException.class, () -> read("{\"a\":" + "[".repeat(16) + "]".repeat(16) + "}"));
  }

  @Test
  void refusesMalformedUtf8() {
    byte[] bytes = {'{', '"', (byte) 0xFF, '"', ':', '1', '}'};
    assertThrows(
        JsonException.class, () -> StrictReader.read(new ByteArrayInputStream(bytes), 100));
  }

  @Test
  void refusesOversizeBeforeParsing() throws Exception {
    StrictReader.read(new ByteArrayInputStream("{}".getBytes(StandardCharsets.UTF_8)), 2);
    InputStream endless =
        new InputStream() {
          @Override
          public int read() {
            return 'x';
          }
        };
    JsonException e = assertThrows(JsonException.class, () -> StrictReader.read(endless, 1 << 20));
    assertEquals("more than 1048576 bytes", e.getMessage());
  }

  @Test
  void refusesUnknownMissingAndMistypedFields() throws Exception {
    Fields fields = read("{\"o\":{\"a\":1,\"extra\":2}}");
    Fields object = fields.object("o");
    assertEquals(
        "o.missing", assertThrows(JsonException.class, () -> object.string("missing")).field());
    assertEquals("o.a", assertThrows(JsonException.class, () -> object.string("a")).field());
    assertThrows(JsonException.class, () -> object.integer("a", 2, 3));
    assertEquals("o.extra", assertThrows(JsonException.class, object::end).field());
  }
}
