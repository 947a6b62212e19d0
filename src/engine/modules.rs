//! Lists the jars of an installation directory, in the order in which Ghidra's own launcher loads them, and its scripts.
//!
//! A module is a directory with a `Module.manifest`; its jars lie in its `lib` directory, and a
//! jar anywhere else is not loaded. Left out are `Ghidra/Extensions` and `Ghidra/patch`: what a
//! user adds there changes results, and neither version nor build of the engine would say so.

use std::io;
use std::path::{Path, PathBuf};

const MANIFEST: &str = "Module.manifest";
/// Directories that hold modules, below the installation.
const ROOTS: [&str; 2] = ["GPL", "Ghidra"];
/// How deep below a root a module can lie.
const MAX_DEPTH: usize = 3;
/// Ghidra's order of precedence, by the name of the directory a module lies in; others come after.
const PRECEDENCE: [&str; 6] = ["Framework", "Configurations", "Features", "Debug", "Processors", "GPL"];
/// Not searched: what the user added, and remains of a local build.
const SKIPPED: [&str; 2] = ["Extensions", "build"];
/// The module that Ghidra starts from, so its jars come before all others.
const FIRST_MODULE: &str = "Utility";
/// Where a module keeps its jars.
const LIBRARIES: [&str; 2] = ["lib", "libs"];

/// Where a module keeps the scripts that analyzers run.
const SCRIPTS: &str = "ghidra_scripts";

/// The scripts that Ghidra would compile, with those in packages, as paths that begin with `installation`, in order.
pub fn scripts(installation: &Path) -> io::Result<Vec<PathBuf>> {
    let mut scripts = Vec::new();
    for module in modules(installation)? {
        collect_scripts(&module.join(SCRIPTS), MAX_DEPTH, &mut scripts)?;
    }
    Ok(scripts)
}

fn collect_scripts(directory: &Path, depth: usize, scripts: &mut Vec<PathBuf>) -> io::Result<()> {
    for path in sorted_entries(directory)? {
        if path.is_dir() && depth > 1 {
            collect_scripts(&path, depth - 1, scripts)?;
        } else if path.extension().is_some_and(|name| name == "java") {
            scripts.push(path);
        }
    }
    Ok(())
}

/// The jars to load, relative to `installation`, in order.
pub fn jars(installation: &Path) -> io::Result<Vec<PathBuf>> {
    let modules = modules(installation)?;
    let mut jars = Vec::new();
    for directory in modules.iter().flat_map(|module| LIBRARIES.map(|name| module.join(name))) {
        jars.extend(sorted_entries(&directory)?.into_iter().filter(|path| is_jar(path)));
    }
    Ok(jars.iter().filter_map(|jar| jar.strip_prefix(installation).ok().map(Path::to_owned)).collect())
}

fn modules(installation: &Path) -> io::Result<Vec<PathBuf>> {
    let mut modules = Vec::new();
    for root in ROOTS {
        collect(&installation.join(root), MAX_DEPTH, &mut modules)?;
    }
    modules.sort_by_key(|module| rank(module));
    Ok(modules)
}

fn collect(directory: &Path, depth: usize, modules: &mut Vec<PathBuf>) -> io::Result<()> {
    for path in sorted_entries(directory)? {
        let skipped = path.file_name().is_some_and(|name| SKIPPED.iter().any(|skipped| name == *skipped));
        if skipped || !path.is_dir() {
            continue;
        }
        if path.join(MANIFEST).exists() {
            modules.push(path);
        } else if depth > 1 {
            collect(&path, depth - 1, modules)?;
        }
    }
    Ok(())
}

fn rank(module: &Path) -> (bool, usize, PathBuf) {
    let name = module.file_name().map(PathBuf::from).unwrap_or_default();
    let category = module.parent().and_then(Path::file_name);
    let precedence = PRECEDENCE.iter().position(|known| category.is_some_and(|category| category == *known));
    (name != Path::new(FIRST_MODULE), precedence.unwrap_or(PRECEDENCE.len()), name)
}

fn is_jar(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jar")
}

/// Entries of a directory by name; none when it does not exist.
fn sorted_entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn installation(modules: &[&str], files: &[&str]) -> tempfile::TempDir {
        let installation = tempfile::tempdir().unwrap();
        let manifests = modules.iter().map(|module| format!("{module}/{MANIFEST}"));
        for file in files.iter().map(|file| (*file).to_owned()).chain(manifests) {
            let path = installation.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        installation
    }

    #[test]
    fn jars_come_in_the_launchers_order() {
        let installation = installation(
            &[
                "GPL/DemanglerGnu",
                "Ghidra/Debug/Debugger",
                "Ghidra/Features/Base",
                "Ghidra/Features/BytePatterns",
                "Ghidra/Framework/DB",
                "Ghidra/Framework/Utility",
                "Ghidra/Other/Thing",
                "Ghidra/Processors/x86",
            ],
            &[
                "GPL/DemanglerGnu/lib/DemanglerGnu.jar",
                "Ghidra/Debug/Debugger/lib/Debugger.jar",
                "Ghidra/Features/Base/lib/Base.jar",
                "Ghidra/Features/Base/lib/asm.jar",
                "Ghidra/Features/BytePatterns/lib/BytePatterns.jar",
                "Ghidra/Framework/DB/lib/DB.jar",
                "Ghidra/Framework/Utility/lib/Utility.jar",
                "Ghidra/Other/Thing/libs/Thing.jar",
                "Ghidra/Processors/x86/lib/x86.jar",
            ],
        );
        let expected = [
            "Ghidra/Framework/Utility/lib/Utility.jar",
            "Ghidra/Framework/DB/lib/DB.jar",
            "Ghidra/Features/Base/lib/Base.jar",
            "Ghidra/Features/Base/lib/asm.jar",
            "Ghidra/Features/BytePatterns/lib/BytePatterns.jar",
            "Ghidra/Debug/Debugger/lib/Debugger.jar",
            "Ghidra/Processors/x86/lib/x86.jar",
            "GPL/DemanglerGnu/lib/DemanglerGnu.jar",
            "Ghidra/Other/Thing/libs/Thing.jar",
        ];
        assert_eq!(jars(installation.path()).unwrap(), expected.map(PathBuf::from));
    }

    #[test]
    fn scripts_are_those_of_modules_with_their_packages() {
        let installation = installation(
            &["Ghidra/Features/Base", "Ghidra/Features/Decompiler"],
            &[
                "Ghidra/Features/Base/ghidra_scripts/B.java",
                "Ghidra/Features/Base/ghidra_scripts/b.py",
                "Ghidra/Features/Base/other/C.java",
                "Ghidra/Features/Decompiler/ghidra_scripts/recovery/A.java",
                "Ghidra/ghidra_scripts/D.java",
            ],
        );
        let found = scripts(installation.path()).unwrap();
        let expected = ["Base/ghidra_scripts/B.java", "Decompiler/ghidra_scripts/recovery/A.java"];
        assert_eq!(found, expected.map(|script| installation.path().join("Ghidra/Features").join(script)));
    }

    #[test]
    fn only_jars_of_the_releases_own_modules_are_listed() {
        let installation = installation(
            &[
                "Ghidra/Features/Base",
                "Ghidra/Features/Base/data/inner",
                "Ghidra/Extensions/Added",
                "Ghidra/build/Left",
                "Ghidra/a/b/c/TooDeep",
            ],
            &[
                "Ghidra/Features/Base/lib/Base.jar",
                "Ghidra/Features/Base/lib/Base.jar.bak",
                "Ghidra/Features/Base/lib/deeper/other.jar",
                "Ghidra/Features/Base/data/inner/lib/inner.jar",
                "Ghidra/Features/NoManifest/lib/NoManifest.jar",
                "Ghidra/Extensions/Added/lib/Added.jar",
                "Ghidra/build/Left/lib/Left.jar",
                "Ghidra/a/b/c/TooDeep/lib/TooDeep.jar",
                "Ghidra/patch/patched.jar",
                "support/lib/support.jar",
            ],
        );
        let expected = [PathBuf::from("Ghidra/Features/Base/lib/Base.jar")];
        assert_eq!(jars(installation.path()).unwrap(), expected);
    }

    #[test]
    fn a_directory_without_modules_has_no_jar() {
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(jars(empty.path()).unwrap(), Vec::<PathBuf>::new());
    }
}
