"""The recipes of other package managers agree with the tree: versions, stores, options, files.

    recipes.py      Nothing is downloaded and nothing compiled. CMake configures with what the recipes pass to it.
"""

import json
import os
import pathlib
import re
import shlex
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
