//! Boots one JVM in this process through JNI.
