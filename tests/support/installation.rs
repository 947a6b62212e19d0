//! The engine's single jar laid out again as the installation directory that it was made from.
//!
//! The jar keeps everything of a release below `_Root`, each file where the release has it, and every class of every
//! module elsewhere, with a list of which module each belongs to. Here each module gets its directory back and a jar of
//! its own classes. Two things differ from a release: libraries are in the jar of the module that uses them, and GPL
//! modules lie below `Ghidra`.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use zip::{ZipArchive, ZipWriter};

use super::tree;

/// Tells Ghidra not to lock the archives of data types that it opens; a release has it, the jar needs none.
const READ_ONLY: &str = "Ghidra/.dbDirLock";
const ROOT: &str = "_Root/";
const MODULES: &str = "_Root/Ghidra/MODULE_LIST";
const MODULES_OF_CLASSES: &str = "_Root/Ghidra/classModuleTree";
/// Only a single jar has this list; a directory must be searched.
const EXTENSION_POINTS: &str = "Ghidra/EXTENSION_POINT_CLASSES";
/// What belongs to no single module.
const COMMON_MODULE: &str = "Utility";

/// Lays `jar` out below `target`, an empty directory, with the archiver of a JDK, and says where the installation is.
pub fn lay_out(jar: &Path, java_home: &Path, target: &Path) -> PathBuf {
    let mut unpack = Command::new(java_home.join("bin/jar"));
    unpack.arg("--extract").arg("--file").arg(jar).arg(ROOT).current_dir(target);
    assert!(unpack.status().unwrap().success(), "{unpack:?}");
    let installation = target.join("installation");
    std::fs::rename(target.join(ROOT), &installation).unwrap();
    std::fs::remove_file(installation.join(EXTENSION_POINTS)).unwrap();
    std::fs::write(installation.join(READ_ONLY), "").unwrap();
    let mut archive = ZipArchive::new(File::open(jar).unwrap()).unwrap();
    let directories =
        module_directories(&std::io::read_to_string(archive.by_name(MODULES).unwrap()).unwrap());
    for directory in directories.values() {
        make_executable(&installation.join("Ghidra").join(directory).join("os/linux_x86_64"));
    }
    write_jars(&mut archive, &installation, &directories);
    installation
}

/// Directory of each module by its name.
fn module_directories(list: &str) -> BTreeMap<String, PathBuf> {
    let named = |line: &str| {
        let directory = PathBuf::from(line);
        (directory.file_name().unwrap().to_str().unwrap().to_owned(), directory)
    };
    list.lines().map(named).collect()
}

fn make_executable(directory: &Path) {
    if directory.is_dir() {
        for name in tree::names(directory) {
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(directory.join(name), executable).unwrap();
        }
    }
}

/// Writes each module's classes to a jar that is called like the module, as Ghidra's search for extension points wants it.
fn write_jars(archive: &mut ZipArchive<File>, installation: &Path, directories: &BTreeMap<String, PathBuf>) {
    let list = std::io::read_to_string(archive.by_name(MODULES_OF_CLASSES).unwrap()).unwrap();
    let modules: BTreeMap<&str, &str> = list.lines().map(|line| line.rsplit_once(' ').unwrap()).collect();
    let mut jars = BTreeMap::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).unwrap();
        let name = entry.name().unwrap().into_owned();
        if entry.is_dir() || name.starts_with(ROOT) {
            continue;
        }
        let module = module_of(&modules, &name);
        let jar = jars.entry(module.to_owned()).or_insert_with(|| {
            let libraries = installation.join("Ghidra").join(&directories[module]).join("lib");
            std::fs::create_dir_all(&libraries).unwrap();
            ZipWriter::new(File::create_new(libraries.join(format!("{module}.jar"))).unwrap())
        });
        jar.raw_copy_file(entry).unwrap();
    }
    for jar in jars.into_values() {
        jar.finish().unwrap();
    }
}

/// The list names a class or the outermost package that belongs to one module, and `null` where parts of it differ.
fn module_of<'list>(modules: &BTreeMap<&str, &'list str>, entry: &str) -> &'list str {
    let named = Path::new(entry).ancestors().find_map(|part| modules.get(part.to_str().unwrap()));
    named.copied().filter(|module| *module != "null").unwrap_or(COMMON_MODULE)
}
