package io.ghidr.adapter.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BoundedWriterTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  private String text(Publication.Content content) throws IOException {
    BoundedWriter writer = new BoundedWriter(bytes, 1 << 20);
    content.writeTo(writer);
    writer.flush();
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void writesCompactStructures() throws IOException {
    assertEquals(
        "{\"a\":[1,true,null,\"x\"],\"b\":{},\"c\":[[],{\"d\":-9223372036854775808}]}",
        text(
            out -> {
              out.beginObject().name("a").beginArray().value(1).value(true);
              out.value((String) null).value("x").endArray();
              out.name("b").beginObject().endObject();
              out.name("c").beginArray().beginArray().endArray();
              out.beginObject().name("d").value(Long.MIN_VALUE).endObject().endArray();
              out.endObject();
            }));
  }

  @Test
  void escapesOnlyWhatMustBeEscaped() throws IOException {
    assertEquals(
        "\"\\\"\\\\/\\b\\t\\n\\f\\r\\u0000\\u001f\u007f</\u2028é\uD83D\uDE00\"",
        text(out -> out.value("\"\\/\b\t\n\f\r\0\u001f\u007f</\u2028é\uD83D\uDE00")));
  }

  @Test
  void replacesLoneSurrogates() throws IOException {
    assertEquals("\"\uFFFDx\uFFFD\uFFFD\"", text(out -> out.value("\uD800x\uDC00\uD83D")));
  }

  @Test
  void writesLines() throws IOException {
    assertEquals(
        "[]\n{}\n",
        text(
            out -> {
              out.beginArray().endArray().newline();
              out.beginObject().endObject().newline();
            }));
  }

  @ParameterizedTest
  @CsvSource({"4,true", "5,false", "6,false"})
  void refusesTheFirstByteBeyondTheLimit(long limit, boolean refused) throws IOException {
    BoundedWriter writer = new BoundedWriter(bytes, limit);
    if (refused) {
      SizeLimitException e = assertThrows(SizeLimitException.class, () -> writer.value("abc"));
      assertEquals(limit, e.limitBytes());
      assertEquals(limit + 1, e.observedAtLeastBytes());
    } else {
      writer.value("abc").flush();
      assertEquals(5, bytes.size());
    }
  }

  @Test
  void limitsOneLine() throws IOException {
    BoundedWriter writer = new BoundedWriter(bytes, 100);
    writer.limitNext(3);
    writer.value(12).newline();
    writer.limitNext(3);
    assertThrows(SizeLimitException.class, () -> writer.value(1234));
  }

  @Test
  void refusesUnbalancedDocuments() {
    BoundedWriter writer = new BoundedWriter(bytes, 100);
    assertThrows(IllegalStateException.class, () -> writer.name("a"));
    assertThrows(IllegalStateException.class, () -> writer.beginObject().value(1));
    assertThrows(IllegalStateException.class, writer::endArray);
    assertThrows(IllegalStateException.class, writer::newline);
    assertThrows(IllegalStateException.class, () -> writer.name("a").endObject());
  }

  @Test
  void writesCollections() throws IOException {
    JsonPart one = out -> out.value(1);
    assertEquals(
        "{\"s\":[\"a\",\"b\"],\"p\":[1,1],\"n\":null}",
        text(
            out -> {
              out.beginObject().name("s").strings(List.of("a", "b"));
              out.name("p").values(List.of(one, one));
              out.name("n").value((JsonPart) null).endObject();
            }));
  }
}
