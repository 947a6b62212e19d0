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

/// A program that Cargo builds from the default registry for a check.
#[derive(Clone, Copy, Debug)]
pub struct ToolPin {
    /// Its package.
    pub package: &'static str,
    /// Its executable.
    pub program: &'static str,
    /// Its version.
    pub version: &'static str,
    /// What it answers to `--version`.
    pub answer: &'static str,
    /// How to build it, besides the version.
    pub options: &'static [&'static str],
    /// How long that takes, for people who wait.
    pub duration: &'static str,
}

/// Checks the dependency policy.
pub const CARGO_DENY: ToolPin = ToolPin {
    package: "cargo-deny",
    program: "cargo-deny",
    version: "0.20.2",
    answer: "cargo-deny 0.20.2",
    options: &[],
    duration: "some minutes",
};

/// Checks the format of Nix files: the official formatter's, in Rust. Half a dozen files need no optimised build.
pub const NIXFMT: ToolPin = ToolPin {
    package: "nixfmt_rs",
    program: "nixfmt",
    version: "0.5.3",
    answer: "nixfmt-rs 0.5.3",
    options: &["--debug"],
    duration: "half a minute",
};
