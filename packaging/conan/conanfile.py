"""The Conan 2 recipe of holdfast, from the tree that it lies in:

    conan create packaging/conan --build=missing -o 'holdfast/*:redis=True' -o 'boost/*:header_only=True'

With the libraries of the system instead of Conan's, name them in a profile under [platform_requires].
"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

ROOT = os.path.join("..", "..")


class HoldfastConan(ConanFile):
    name = "holdfast"
    description = "Locks and other synchronizers between processes and machines"
    license = "Apache-2.0"
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {
        "shared": [True, False],
        "file": [True, False],  # the store file:
        "redis": [True, False],  # the store redis:
        "etcd": [True, False],  # the store etcd:
        "postgres": [True, False],  # the store postgres:
        "mysql": [True, False],  # the store mysql:
        "zookeeper": [True, False],  # the store zookeeper:, with the system's libzookeeper_st
        "quorum": [True, False],  # the stores quorum+redis: and the like; their members' store is an option of its own
        "command": [True, False],  # the holdfast command
    }
    default_options = {"shared": True, "file": True, "redis": False, "etcd": False, "postgres": False,
                       "mysql": False, "zookeeper": False, "quorum": False, "command": False}

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, ROOT, "include", "holdfast", "version.hpp"))
        self.version = re.search(r'HOLDFAST_VERSION_STRING "([^"]+)"', header).group(1)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, ROOT)
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "completions/*", "examples/*", "include/*", "man/*", "src/*",
                        "tools/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # Headers: our own sources use them, and so does whoever includes <holdfast/asio.hpp>.
        self.requires("boost/[>=1.81]", transitive_headers=True)
        if self.options.file:
            self.requires("sqlite3/[>=3.40]")
        if self.options.redis:
            self.requires("hiredis/[>=1.0]")
            self.requires("openssl/[>=3 <4]")
        if self.options.etcd:
            self.requires("grpc/[>=1.50]")
            self.requires("protobuf/[>=3.21]")
        if self.options.postgres:
            self.requires("libpq/[>=14]")
        if self.options.mysql:
            self.requires("mariadb-connector-c/[>=3.3]")
        if self.options.command:
            self.requires("cli11/[>=2.3]")
            self.requires("fmt/[>=9]")
            self.requires("nlohmann_json/[>=3.11]")
            self.requires("tomlplusplus/[>=3.1]")

    def cmake_variables(self):
        """What is told to CMake: each store as it was asked for, and nothing but the product."""
        return {
            "BUILD_SHARED_LIBS": bool(self.options.shared),
            "HOLDFAST_STORE_FILE": bool(self.options.file),
            "HOLDFAST_STORE_REDIS": bool(self.options.redis),
            "HOLDFAST_STORE_ETCD": bool(self.options.etcd),
            "HOLDFAST_STORE_POSTGRES": bool(self.options.postgres),
            "HOLDFAST_STORE_MYSQL": bool(self.options.mysql),
            "HOLDFAST_STORE_ZOOKEEPER": bool(self.options.zookeeper),
            "HOLDFAST_STORE_QUORUM": bool(self.options.quorum),
            "HOLDFAST_BUILD_CLI": bool(self.options.command),
            "HOLDFAST_BUILD_TESTS": False,
            "HOLDFAST_BUILD_BENCH": False,
            "HOLDFAST_BUILD_EXAMPLES": False,
            "HOLDFAST_WARNINGS_AS_ERRORS": False,
        }

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update(self.cmake_variables())
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "holdfast")
        self.cpp_info.set_property("cmake_target_name", "holdfast::holdfast")
        self.cpp_info.set_property("pkg_config_name", "holdfast")
        self.cpp_info.libs = ["holdfast"]
        self.cpp_info.system_libs = ["pthread", "dl"]
        if not self.options.shared:
            self.cpp_info.defines = ["HOLDFAST_STATIC"]
