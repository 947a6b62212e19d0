package io.ghidr.adapter.protocol;

import io.ghidr.adapter.json.BoundedWriter;
import io.ghidr.adapter.json.JsonPart;
import java.io.IOException;
import java.util.List;

/**
 * A list that an error shows in part, and says so.
 *
 * @param items the first items, {@link Protocol#MAX_LISTED_ITEMS} at most
 * @param total number of all items
 * @param <T> type of the items
 */
public record Listing<T extends JsonPart>(List<T> items, long total) implements JsonPart {

  /** Shows the first of {@code all}. */
  public static <T extends JsonPart> Listing<T> of(List<T> all) {
    int shown = Math.min(all.size(), Protocol.MAX_LISTED_ITEMS);
    return new Listing<>(List.copyOf(all.subList(0, shown)), all.size());
  }

  /** Shows the first of {@code all}, each bounded in length. */
  public static Listing<JsonPart> ofStrings(List<String> all) {
    return of(
        all.stream()
            .map(text -> Protocol.bounded(text, Protocol.MAX_TEXT_CHARS))
            .<JsonPart>map(text -> out -> out.value(text))
            .toList());
  }

  @Override
  public void writeTo(BoundedWriter out) throws IOException {
    out.beginObject().name("items").values(items);
    out.name("total").value(total);
    out.name("has_more").value(total > items.size()).endObject();
  }
}
