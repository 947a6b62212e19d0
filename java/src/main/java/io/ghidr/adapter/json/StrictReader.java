package io.ghidr.adapter.json;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads one JSON object of bounded size and depth.
 *
 * <p>Refused: more bytes than the limit (before any parsing), malformed UTF-8, anything strict JSON
 * forbids, duplicate keys, numbers that are not 64-bit integers, data after the object. Unknown and
 * missing fields are refused by {@link Fields}, which the reader returns.
 */
public final class StrictReader {
  private static final int MAX_DEPTH = 16;

  private final JsonReader reader;

  private StrictReader(String text) {
    reader = new JsonReader(new StringReader(text));
  }

  /** Reads the only object of {@code in}, which may hold {@code maxBytes} bytes at most. */
  public static Fields read(InputStream in, int maxBytes) throws IOException, JsonException {
    byte[] bytes = in.readNBytes(maxBytes + 1);
    if (bytes.length > maxBytes) {
      throw new JsonException("", "more than " + maxBytes + " bytes");
    }
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new JsonException("", "not UTF-8");
    }
    JsonGrammar.check(text);
    return new StrictReader(text).document();
  }

  private Fields document() throws JsonException {
    try {
      if (reader.peek() != JsonToken.BEGIN_OBJECT) {
        throw new JsonException("", "not an object");
      }
      Map<String, Object> map = object("", 1);
      if (reader.peek() != JsonToken.END_DOCUMENT) {
        throw new JsonException("", "data after the object");
      }
      return new Fields("", map);
    } catch (IOException | IllegalStateException | NumberFormatException e) {
      throw new JsonException("", "malformed JSON");
    }
  }

  private Map<String, Object> object(String path, int depth) throws IOException, JsonException {
    Map<String, Object> map = new LinkedHashMap<>();
    reader.beginObject();
    while (reader.hasNext()) {
      String name = reader.nextName();
      String field = path.isEmpty() ? name : path + "." + name;
      if (map.containsKey(name)) {
        throw new JsonException(field, "duplicate field");
      }
      map.put(name, value(field, depth + 1));
    }
    reader.endObject();
    return map;
  }

  private List<Object> array(String path, int depth) throws IOException, JsonException {
    List<Object> list = new ArrayList<>();
    reader.beginArray();
    while (reader.hasNext()) {
      list.add(value(path + "[" + list.size() + "]", depth + 1));
    }
    reader.endArray();
    return list;
  }

  private Object value(String path, int depth) throws IOException, JsonException {
    if (depth > MAX_DEPTH) {
      throw new JsonException(path, "nested too deeply");
    }
    return switch (reader.peek()) {
      case BEGIN_OBJECT -> object(path, depth);
      case BEGIN_ARRAY -> array(path, depth);
      case STRING -> reader.nextString();
      case NUMBER -> Long.valueOf(reader.nextString());
      case BOOLEAN -> reader.nextBoolean();
      case NULL -> {
        reader.nextNull();
        yield null;
      }
      default -> throw new JsonException(path, "malformed JSON");
    };
  }
}
