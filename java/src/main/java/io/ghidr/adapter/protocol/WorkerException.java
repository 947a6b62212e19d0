package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import java.io.IOException;

/**
 * A typed failure of an operation: the error of the response, and its only source.
 *
 * <p>The message serves tests and logs; what the user reads is made of code and details.
 */
public final class WorkerException extends Exception implements JsonPart {
  private static final long serialVersionUID = 1L;

  private final String code;
  private final transient JsonPart details;

  WorkerException(String code, String message, JsonPart details) {
    super(message);
    this.code = code;
    this.details = details;
  }

  /** Stable code of the error. */
  public String code() {
    return code;
  }

  @Override
  public void writeTo(BoundedWriter out) throws IOException {
    out.beginObject().name("code").value(code);
    out.name("details").value(details).endObject();
  }
}
