"""ETBK_STATIC_PLUGINS: a table by symbol, which no linker can strip, for 1 to 16 plugins."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from abi_header import INCLUDE
from abi_toolchains import Compile

LANGUAGES = {"c": ("gcc", "-std=c99"), "cpp": ("g++", "-std=c++17")}
APPLICATION = """
#include <executorch_backend_kit/plugin.h>
#include <stdio.h>
ETBK_STATIC_PLUGINS(%s);
int main(void) {
  for (const EtbkStaticPlugin* row = etbk_static_plugins; row->name; ++row)
    printf("%%s %%d\\n", row->name, (int)row->entry(NULL, NULL));
  return 0;
}
"""
PLUGIN = """
#include <executorch_backend_kit/plugin.h>
ETBK_PLUGIN_ENTRY(%s) {
  (void)host;
  (void)plugin;
  return %d;
}
"""


def names(count: int) -> list[str]:
    return [f"plugin_{index}" for index in range(count)]


def compile_object(folder: Path, name: str, language: str, source: str) -> Path:
    path = folder / f"{name}.{language}"
    path.write_text(source)
    command = [*LANGUAGES[language], "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{INCLUDE}"]
    command += ["-DETBK_STATIC_PLUGIN", "-O2", "-ffunction-sections", "-fdata-sections"]
    built = path.with_suffix(".o")
    subprocess.run([*command, "-c", str(path), "-o", str(built)], check=True)
    return built


@pytest.mark.parametrize("count", [1, 2, 16])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_plugin_is_linked_from_archives(tmp_path: Path, count: int, language: str) -> None:
    """Plain archives, no whole-archive, unreferenced sections collected: all entries are there."""
    archives = []
    for index, name in enumerate(names(count)):
        built = compile_object(tmp_path, name, "cpp" if index % 2 else "c", PLUGIN % (name, index))
        archives.append(tmp_path / f"lib{name}.a")
        subprocess.run(["ar", "rcs", str(archives[-1]), str(built)], check=True)
    application = APPLICATION % ", ".join(names(count))
    main = compile_object(tmp_path, "main", language, application)
    program = tmp_path / "program"
    link = ["gcc", "-Wl,--gc-sections", "-Wl,--as-needed", str(main), *map(str, archives)]
    subprocess.run([*link, "-o", str(program)], check=True)
    output = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    assert output.split() == [word for i, n in enumerate(names(count)) for word in (n, str(i))]


@pytest.mark.parametrize("standard", ["c99", "c++17"])
@pytest.mark.parametrize("count", [1, 2, 15, 16])
def test_every_compiler_takes_it(compile_text: Compile, standard: str, count: int) -> None:
    source = f"""
#include <executorch_backend_kit/plugin.h>
ETBK_STATIC_PLUGINS({", ".join(names(count))});
extern char rows[sizeof(etbk_static_plugins) / sizeof(EtbkStaticPlugin) == {count + 1} ? 1 : -1];
"""
    result = compile_text(source, standard, "-pedantic", "-Wall", "-Wextra", "-ffreestanding")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_too_many_do_not_compile(tmp_path: Path, language: str) -> None:
    source = APPLICATION % ", ".join(names(17))
    with pytest.raises(subprocess.CalledProcessError):
        compile_object(tmp_path, "main", language, source)
