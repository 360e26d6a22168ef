"""The recipes of other package managers agree with the tree: versions, stores, options, files.

    recipes.py      Nothing is downloaded and nothing compiled. CMake configures with what the recipes pass to it.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = os.environ["HOLDFAST_EXPECTED_VERSION"]
STORES = {match.group(1) for path in ROOT.glob("src/stores/*/CMakeLists.txt")
          for match in re.finditer(r"^ *NAME (\w+)$", path.read_text(encoding="utf-8"), re.MULTILINE)}

# What the functions of vcpkg do, as far as a configuration goes.
VCPKG = """cmake_minimum_required(VERSION 3.22)
function(vcpkg_check_features)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
    set(out "")
    while(arg_FEATURES)
        list(POP_FRONT arg_FEATURES feature option)
        if(feature IN_LIST FEATURES)
            list(APPEND out -D${option}=ON)
        else()
            list(APPEND out -D${option}=OFF)
        endif()
    endwhile()
    set(${arg_OUT_FEATURE_OPTIONS} "${out}" PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    execute_process(COMMAND "${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${BUILD}" -G Ninja -DBUILD_SHARED_LIBS=OFF
        ${arg_OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    file(SIZE "${arg_FILE_LIST}" size)
endfunction()
foreach(name vcpkg_cmake_install vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig vcpkg_copy_tools)
    cmake_language(EVAL CODE "function(${name})\nendfunction()")
endforeach()
"""


class Recipes(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.TemporaryDirectory(prefix="holdfast-recipes-")
        self.addCleanup(self.work.cleanup)
        self.folder = pathlib.Path(self.work.name)

    def run_cmake(self, *words):
        """What it says; it must use all that it is given."""
        done = subprocess.run(["cmake", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("were not used by the project", done.stdout)
        return done.stdout


class Vcpkg(Recipes):
    PORT = ROOT / "packaging/vcpkg/holdfast"

    def test_the_manifest(self):
        manifest = json.loads((self.PORT / "vcpkg.json").read_text(encoding="utf-8"))
        self.assertEqual((manifest["name"], manifest["version"]), ("holdfast", VERSION))
        self.assertEqual(set(manifest["features"]), STORES | {"tool"})

    def configure(self, *features):
        script = self.folder / "port.cmake"
        script.write_text(VCPKG + f"include({self.PORT}/portfile.cmake)\n", encoding="utf-8")
        return self.run_cmake(f"-DFEATURES={';'.join(features)}", f"-DBUILD={self.folder}/{len(features)}",
                              f"-DCURRENT_PACKAGES_DIR={self.folder}/packages", "-P", script)

    def test_the_port(self):
        self.assertIn("file (linked), redis (off)", self.configure("core", "file"))
        self.assertIn("file (linked), redis (linked)", self.configure("core", "file", "redis", "tool"))
        self.assertIn("postgres (linked)", self.configure("core", "postgres"))


class Conan(Recipes):
    def recipe(self):
        """The class of the recipe, without Conan."""
        for name in ("conan", "conan.tools", "conan.tools.build", "conan.tools.cmake", "conan.tools.files"):
            sys.modules[name] = types.ModuleType(name)
        sys.modules["conan"].ConanFile = object
        sys.modules["conan.tools.build"].check_min_cppstd = None
        for name in ("CMake", "CMakeDeps", "CMakeToolchain", "cmake_layout"):
            setattr(sys.modules["conan.tools.cmake"], name, None)
        sys.modules["conan.tools.files"].copy = lambda _, pattern, source, target: self.copied.append((pattern, source))
        sys.modules["conan.tools.files"].load = lambda _, path: pathlib.Path(path).read_text(encoding="utf-8")
        path = ROOT / "packaging/conan/conanfile.py"
        names = {"__name__": "recipe"}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)  # pylint: disable=exec-used
        out = names["HoldfastConan"]()
        out.recipe_folder = str(path.parent)
        return out

    def setUp(self):
        super().setUp()
        self.copied = []

    def test_version_and_options(self):
        recipe = self.recipe()
        recipe.set_version()
        self.assertEqual(recipe.version, VERSION)
        self.assertEqual(set(recipe.options), STORES | {"shared", "command"})

    def test_what_it_exports_can_be_configured(self):
        recipe = self.recipe()
        recipe.export_sources_folder = str(self.folder)
        recipe.export_sources()
        for pattern, source in self.copied:
            folder = pattern.removesuffix("/*")
            self.assertTrue((pathlib.Path(source) / folder).exists(), pattern)
            os.symlink((pathlib.Path(source) / folder).resolve(), self.folder / folder)
        recipe.options = types.SimpleNamespace(**{**recipe.default_options, "redis": True, "postgres": True, "command": True})
        variables = [f"-D{name}={'ON' if value else 'OFF'}" for name, value in recipe.cmake_variables().items()]
        said = self.run_cmake("-S", self.folder, "-B", self.folder / "build", "-G", "Ninja", *variables)
        self.assertIn("file (module), redis (module)", said)
        self.assertIn("postgres (module)", said)


@unittest.skipUnless(shutil.which("conan"), "Conan is not installed: pip install conan")
class ConanItself(Recipes):
    """The recipe in Conan's own hands, which takes the libraries of the system for its packages and downloads nothing."""

    PROFILE = """[settings]
os=Linux
arch=x86_64
compiler=gcc
compiler.version=12
compiler.libcxx=libstdc++11
compiler.cppstd=20
build_type=Release
[platform_requires]
boost/1.81.0
sqlite3/3.40.1
hiredis/1.0.3
openssl/3.0.15
"""

    def test_it_resolves_and_configures(self):
        (self.folder / "profile").write_text(self.PROFILE, encoding="utf-8")
        done = subprocess.run(
            ["conan", "install", str(ROOT / "packaging/conan"), "-pr:a", str(self.folder / "profile"), "--no-remote",
             "-of", str(self.folder / "out"), "-o", "&:redis=True", "-c", "tools.cmake.cmaketoolchain:user_presets=",
             "-c", "tools.cmake.cmaketoolchain:generator=Ninja"],
            env={**os.environ, "CONAN_HOME": str(self.folder / "conan")}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        generators = self.folder / "out/build/Release/generators"
        preset = json.loads((generators / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"][0]
        said = self.run_cmake("-S", ROOT, "-B", self.folder / "build", "-G", "Ninja",
                              f"-DCMAKE_TOOLCHAIN_FILE={generators}/conan_toolchain.cmake",
                              *(f"-D{name}={value}" for name, value in preset["cacheVariables"].items()))
        self.assertIn("file (module), redis (module), etcd (off)", said)


class Docker(Recipes):
    FILE = ROOT / "packaging/docker/Dockerfile"

    def setUp(self):
        super().setUp()
        text = re.sub(r"\\\n", " ", self.FILE.read_text(encoding="utf-8"))
        self.lines = [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]

    def commands(self):
        return [shlex.split(part) for word, rest in self.lines if word == "RUN" for part in rest.split("&&")]

    def test_what_it_installs_is_what_the_build_needs(self):
        setup = (ROOT / "tools/setup").read_text(encoding="utf-8")
        needed = {"libboost1.81-dev"}
        for group in (r"small\) echo ([^\"]*)", r"build\) packages_of small && echo ([^;]*)"):
            needed |= set(re.search(group, setup).group(1).split())
        installed = [set(words[words.index("install") + 1:]) for words in self.commands() if words[:2] == ["apt-get", "install"]]
        self.assertEqual(needed - installed[0], set())

    def packages(self):
        """What each of the two images installs."""
        return [[word for word in words[2:] if not word.startswith("--")]
                for words in self.commands() if words[:2] == ["apt-get", "install"]]

    def on_the_same_debian(self):
        if "VERSION_CODENAME=bookworm" not in pathlib.Path("/etc/os-release").read_text(encoding="utf-8"):
            self.skipTest("not the Debian of the image")
        if self.asked("apt-cache", "policy", "libgrpc++-dev").find("Candidate: 1") < 0:
            self.skipTest("apt has no lists here")

    def asked(self, *words):
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_what_it_installs_can_be_had(self):
        self.on_the_same_debian()
        for packages in self.packages():
            self.asked("apt-get", "install", "--simulate", "--yes", "--no-install-recommends", *packages)

    def test_what_it_installs_has_what_is_loaded(self):
        """The second image: the libraries that the command and its modules name, and what those need."""
        self.on_the_same_debian()
        no = ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")
        present = self.asked("apt-cache", "depends", "--recurse", *(f"--no-{word}" for word in no), *self.packages()[1])
        present = set(re.findall(r"^([\w.+-]+)(?::\w+)?$", present, re.MULTILINE)) | {"libstdc++6", "libc6", "libgcc-s1"}
        build = pathlib.Path(os.environ["HOLDFAST_BUILD"])
        programs = [build / "bin/holdfast", build / "lib/libholdfast.so", *build.glob("lib/holdfast/stores/*.so")]
        dynamic = self.asked("readelf", "--dynamic", "--wide", *map(str, programs))
        needed = {name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic) if not name.startswith("libholdfast")}
        found = self.asked("dpkg", "--search", *(f"*/{name}" for name in needed)).splitlines()
        for name in needed:
            owners = {line.split(":")[0] for line in found if line.endswith("/" + name)}
            self.assertTrue(owners & present, f"{name}, of {owners}, is loaded")

    def test_what_it_copies_can_be_configured(self):
        ignored = (self.FILE.parent / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
        for word, rest in self.lines:
            if word != "COPY" or rest.startswith("--"):
                continue
            for name in rest.split()[:-1]:
                self.assertIn(f"!{name}", ignored)
                os.symlink(ROOT / name, self.folder / name)
        configure = next(words for words in self.commands() if words[:2] == ["cmake", "-S"])
        said = self.run_cmake(*(str(self.folder) + word if word in ("/src", "/build") else word
                                for word in configure[1:] if word != "-S" and word != "/src"), "-S", self.folder)
        self.assertIn("file (module), redis (module)", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
