/** The operations of the worker, one class each. */
package io.ghidr.adapter.ops;
