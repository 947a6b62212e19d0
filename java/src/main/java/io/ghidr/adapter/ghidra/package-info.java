/** Everything that talks to Ghidra, one concern per class. */
package io.ghidr.adapter.ghidra;
