package io.ghidr.adapter.json;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;

/**
 * Writes compact UTF-8 JSON and refuses to write more than a fixed number of bytes.
 *
 * <p>Only what JSON forces is escaped (quote, backslash, control characters; lower-case hex), so
 * that re-serialising a document with a compact serialiser yields the same bytes. A lone surrogate
 * becomes U+FFFD. There are no floating-point values. Structure errors are bugs and throw {@link
 * IllegalStateException}.
 */
public final class BoundedWriter implements Closeable {
  private static final int BUFFER_BYTES = 1 << 16;
  private static final char[] HEX = "0123456789abcdef".toCharArray();

  private enum Scope {
    OBJECT,
    ARRAY
  }

  private final OutputStream out;
  private final long limitBytes;
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private final Deque<Scope> scopes = new ArrayDeque<>();
  private int buffered;
  private long writtenBytes;
  private long nextLimitBytes = Long.MAX_VALUE;
  private boolean needsComma;
  private boolean afterName;

  /** Writes to {@code out} and never hands it more than {@code limitBytes} bytes. */
  public BoundedWriter(OutputStream out, long limitBytes) {
    this.out = out;
    this.limitBytes = limitBytes;
  }

  /** Size of {@code part} in bytes; throws when that exceeds {@code limitBytes}. */
  public static long measure(JsonPart part, long limitBytes) throws IOException {
    BoundedWriter writer = new BoundedWriter(OutputStream.nullOutputStream(), limitBytes);
    part.writeTo(writer);
    return writer.writtenBytes();
  }

  /** Number of bytes accepted so far. */
  public long writtenBytes() {
    return writtenBytes;
  }

  /** From here on, no more than {@code bytes} bytes are accepted before the next call. */
  public void limitNext(long bytes) {
    nextLimitBytes = writtenBytes + bytes;
  }

  /** Opens an object. */
  public BoundedWriter beginObject() throws IOException {
    return open(Scope.OBJECT, '{');
  }

  /** Closes the innermost object. */
  public BoundedWriter endObject() throws IOException {
    return close(Scope.OBJECT, '}');
  }

  /** Opens an array. */
  public BoundedWriter beginArray() throws IOException {
    return open(Scope.ARRAY, '[');
  }

  /** Closes the innermost array. */
  public BoundedWriter endArray() throws IOException {
    return close(Scope.ARRAY, ']');
  }

  /** Writes the name of the next field. */
  public BoundedWriter name(String name) throws IOException {
    if (scopes.peek() != Scope.OBJECT || afterName) {
      throw new IllegalStateException("a field name is not possible here");
    }
    comma();
    quoted(name);
    put(':');
    afterName = true;
    return this;
  }

  /** Writes a string, or null. */
  public BoundedWriter value(String value) throws IOException {
    beforeValue();
    if (value == null) {
      ascii("null");
    } else {
      quoted(value);
    }
    needsComma = true;
    return this;
  }

  /** Writes an integer. */
  public BoundedWriter value(long value) throws IOException {
    beforeValue();
    ascii(Long.toString(value));
    needsComma = true;
    return this;
  }

  /** Writes a boolean. */
  public BoundedWriter value(boolean value) throws IOException {
    beforeValue();
    ascii(Boolean.toString(value));
    needsComma = true;
    return this;
  }

  /** Writes a part, or null. */
  public BoundedWriter value(JsonPart part) throws IOException {
    if (part == null) {
      return value((String) null);
    }
    part.writeTo(this);
    return this;
  }

  /** Writes an array of parts. */
  public BoundedWriter values(Collection<? extends JsonPart> parts) throws IOException {
    beginArray();
    for (JsonPart part : parts) {
      value(part);
    }
    return endArray();
  }

  /** Writes an array of strings. */
  public BoundedWriter strings(Collection<String> values) throws IOException {
    beginArray();
    for (String value : values) {
      value(value);
    }
    return endArray();
  }

  /** Ends a line between two top-level values. */
  public BoundedWriter newline() throws IOException {
    if (!scopes.isEmpty()) {
      throw new IllegalStateException("a line ends between documents only");
    }
    put('\n');
    needsComma = false;
    return this;
  }

  /** Hands everything to the stream and flushes it. */
  public void flush() throws IOException {
    drain();
    out.flush();
  }

  @Override
  public void close() throws IOException {
    flush();
    out.close();
  }

  private BoundedWriter open(Scope scope, char bracket) throws IOException {
    beforeValue();
    scopes.push(scope);
    put(bracket);
    needsComma = false;
    return this;
  }

  private BoundedWriter close(Scope scope, char bracket) throws IOException {
    if (scopes.peek() != scope || afterName) {
      throw new IllegalStateException("unbalanced document");
    }
    scopes.pop();
    put(bracket);
    needsComma = true;
    return this;
  }

  private void beforeValue() throws IOException {
    if (scopes.peek() == Scope.OBJECT && !afterName) {
      throw new IllegalStateException("a value needs a field name here");
    }
    if (!afterName) {
      comma();
    }
    afterName = false;
  }

  private void comma() throws IOException {
    if (needsComma) {
      put(',');
      needsComma = false;
    }
  }

  private void quoted(String text) throws IOException {
    put('"');
    int length = text.length();
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (c >= 0x20 && c < 0x80) {
        if (c == '"' || c == '\\') {
          put('\\');
        }
        put(c);
      } else if (c < 0x20) {
        control(c);
      } else if (c < 0x800) {
        put(0xC0 | c >> 6);
        put(0x80 | c & 0x3F);
      } else if (Character.isHighSurrogate(c)
          && i + 1 < length
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        int point = Character.toCodePoint(c, text.charAt(++i));
        put(0xF0 | point >> 18);
        put(0x80 | point >> 12 & 0x3F);
        put(0x80 | point >> 6 & 0x3F);
        put(0x80 | point & 0x3F);
      } else {
        char safe = Character.isSurrogate(c) ? '\uFFFD' : c;
        put(0xE0 | safe >> 12);
        put(0x80 | safe >> 6 & 0x3F);
        put(0x80 | safe & 0x3F);
      }
    }
    put('"');
  }

  private void control(char c) throws IOException {
    put('\\');
    switch (c) {
      case '\b' -> put('b');
      case '\t' -> put('t');
      case '\n' -> put('n');
      case '\f' -> put('f');
      case '\r' -> put('r');
      default -> {
        ascii("u00");
        put(HEX[c >> 4]);
        put(HEX[c & 0xF]);
      }
    }
  }

  private void ascii(String text) throws IOException {
    for (int i = 0; i < text.length(); i++) {
      put(text.charAt(i));
    }
  }

  private void put(int octet) throws IOException {
    if (writtenBytes >= limitBytes || writtenBytes >= nextLimitBytes) {
      throw new SizeLimitException(limitBytes, writtenBytes + 1);
    }
    if (buffered == BUFFER_BYTES) {
      drain();
    }
    buffer[buffered++] = (byte) octet;
    writtenBytes++;
  }

  private void drain() throws IOException {
    out.write(buffer, 0, buffered);
    buffered = 0;
  }
}
