/** Plain readers of the Sample's own bytes. They trust nothing and know no Ghidra. */
package io.ghidr.adapter.sample;
