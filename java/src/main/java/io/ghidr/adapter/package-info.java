/** Entry point and dispatch of the adapter that ghidr runs inside the worker's Java machine. */
package io.ghidr.adapter;
