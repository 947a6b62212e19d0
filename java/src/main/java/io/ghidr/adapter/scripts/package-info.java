/**
 * The script shims. Ghidra turns the resource URL of a script class into a file, which fails inside
 * a jar: these classes are shipped in a directory, and nothing else is in this package.
 */
package io.ghidr.adapter.scripts;
