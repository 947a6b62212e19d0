/** Strict, bounded JSON: what the adapter accepts from the harness and what it writes back. */
package io.ghidr.adapter.json;
