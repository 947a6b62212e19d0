//! Everything that set-up may fetch, pinned: the one file to review when a version changes.
//!
//! Nothing outside this list is downloaded by a task, except what `Cargo.lock` and `java/pom.xml` pin themselves.

/// The engine of development and CI: Ghidra as a single jar, published as a Maven artifact.
#[derive(Clone, Copy, Debug)]
pub struct EnginePin {
    /// Maven group.
    pub group: &'static str,
    /// Maven artifact.
    pub artifact: &'static str,
    /// Maven version.
    pub version: &'static str,
    /// Exact size in bytes.
    pub bytes: u64,
    /// Lowercase hexadecimal SHA-256.
    pub sha256: &'static str,
    /// `application.version` inside it.
    pub ghidra_version: &'static str,
    /// `application.revision.ghidra` inside it.
    pub ghidra_build: &'static str,
    /// `application.release.name` inside it.
    pub ghidra_release_name: &'static str,
    /// Its `application.java.min`.
    pub java_minimum: u32,
    /// The Java feature version the project's goldens were made with.
    pub java_verified: u32,
}

/// Ghidra 10.3 of 10 May 2023.
pub const ENGINE: EnginePin = EnginePin {
    group: "io.joern",
    artifact: "ghidra",
    version: "10.3_PUBLIC_20230510",
    bytes: 222_576_146,
    sha256: "f5381bce06f561fa9fa6360c01a943f14c74950c97d0c5d16b339974f628c290",
    ghidra_version: "10.3",
    ghidra_build: "104d9592485c2fb6c7ab5177c71d8d70140a3d03",
    ghidra_release_name: "PUBLIC",
    java_minimum: 17,
    java_verified: 17,
};

/// The Maven plugin that downloads the engine.
pub const DEPENDENCY_PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1";

/// Debian packages of full JDKs inside the engine's range, the verified one first.
pub const JDK_PACKAGES: [&str; 2] = ["openjdk-17-jdk-headless", "openjdk-21-jdk-headless"];

/// `cargo-deny`, built from the default registry by `cargo xtask test`.
pub const CARGO_DENY_VERSION: &str = "0.20.2";
