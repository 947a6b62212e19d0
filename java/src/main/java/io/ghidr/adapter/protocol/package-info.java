/** The worker protocol: requests, limits, granted paths, outcomes and errors. Knows no Ghidra. */
package io.ghidr.adapter.protocol;
