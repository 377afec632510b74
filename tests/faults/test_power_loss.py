#!/usr/bin/python3
"""A machine loses power at any moment: any of many states is on the disk then. kill_at.c records the calls of a run,
and they are made once more in memory, where it is known what of each file was synced (as Pillai et al. do it, OSDI
2014). In each state the folder must hold what its manifest names, and `run --resume` must end with the folder of a run
without a fault."""

import os
import random
import re
import shutil
import unittest
from pathlib import Path

from faults import SOAK, OnRanks, times
from folders import NEW, FolderTest, content

RUNS = times(4, 10**9)  # of --resume, for each start
MANIFEST = "out/manifest.yaml"


def writes(offset, data):
    return lambda old: old[:offset].ljust(offset, b"\0") + data + old[offset + len(data) :]


def sizes(size):
    return lambda old: old[:size].ljust(size, b"\0")


def names(**changed):
    return lambda old: {name: node for name, node in {**old, **changed}.items() if node}


class Node:
    """A file as its bytes, or a folder as its nodes by name."""

    def __init__(self, content):
        self.synced = self.now = content
        self.changes = []  # since it was synced
        self.without = {}  # by each of them what there is if that alone is lost

    def change(self, change):
        self.without = {lost: change(kept) for lost, kept in self.without.items()}
        self.without[change] = self.now
        self.now = change(self.now)
        self.changes.append(change)

    def sync(self):
        self.synced, self.changes, self.without = self.now, [], {}


class Disk:
    """The folder in which a run is started, at first as `base` was left, with all of it synced."""

    def __init__(self, base):
        self.root = Node({})
        for path in [base / "out", *sorted(base.glob("out/**/*"))] if base else []:
            parent, name = self.split(path.relative_to(base))
            parent.now[name] = Node({} if path.is_dir() else path.read_bytes())

    def find(self, path):
        node = self.root
        for name in Path(path).parts:
            node = node.now.get(name) if node else None
        return node

    def split(self, path):
        return self.find(Path(path).parent), Path(path).name

    def make(self, call, number, path, other, data):
        """One call; returns the node that it changes and the change, where there are any."""
        node, (parent, name) = self.find(path), self.split(path)
        if call in ("fsync", "fdatasync"):
            node.sync()
        elif call == "open" and node and number & os.O_TRUNC and node.now:
            return node, sizes(0)
        elif call == "open" and not node:
            return parent, names(**{name: Node(b"")})
        elif call in ("mkdir", "mkdirat"):
            return parent, names(**{name: Node({})})
        elif call in ("unlink", "unlinkat", "remove", "rmdir"):
            return parent, names(**{name: None})
        elif call in ("rename", "renameat"):
            source, old = self.split(other)
            assert source is parent, "a rename from one folder to another"
            return parent, names(**{old: None, name: source.now[old]})
        elif call == "write":
            return node, writes(number, data)
        elif call in ("truncate", "truncate64", "ftruncate", "ftruncate64"):
            return node, sizes(number)
        else:
            assert call in ("open", "flock", "fcntl", "fcntl64"), call
        return None, None

    def nodes(self):
        """All that can be reached by any name, with a path of each."""
        found, left = {}, [("", self.root)]
        for path, node in left:
            if node not in found:
                found[node] = path
                for inner in (node.synced, node.now) if isinstance(node.now, dict) else ():
                    left += [(f"{path}/{name}".lstrip("/"), each) for name, each in inner.items()]
        return found

    def tree(self, read, special=None):
        """By its path each file as its bytes, each folder as None; `read` gives the content of what is not special."""
        found, left = {}, [("", self.root)]
        for path, node in left:
            inner = special[node] if special and node in special else read(node)
            found[path] = None if isinstance(inner, dict) else inner
            if isinstance(inner, dict):
                left += [(f"{path}/{name}".lstrip("/"), each) for name, each in inner.items()]
        return found

    def states(self, node, change):
        """What may be on the disk after this change, the last one: all changes or none, those of names or of data, all
        but one, one alone, or half of the last one."""
        now, synced = (lambda each: each.now), (lambda each: each.synced)
        yield self.tree(now)
        yield self.tree(synced)
        yield self.tree(lambda each: each.now if isinstance(each.now, dict) else each.synced)
        yield self.tree(lambda each: each.synced if isinstance(each.now, dict) else each.now)
        for each, path in self.nodes().items():
            for lost in each.changes if Path(path).name not in (".lock", "log.txt") else ():
                yield self.tree(now, {each: each.without[lost]})
                yield self.tree(synced, {each: lost(each.synced)})
        if node and len(node.now) > 1 and isinstance(node.now, bytes):
            before = node.without[change]
            written = [n for n in range(0, len(node.now), 512) if node.now[n : n + 512] != before[n : n + 512]]
            middle = written[len(written) // 2] if written else 0
            torn = (node.now[:middle] + before[middle:], before[:middle].ljust(middle, b"\0") + node.now[middle:])
            yield from (self.tree(now, {node: each}) for each in torn)


def read_calls(path, folder):
    """Those on the run folder and on the names beside it."""
    with open(path, "rb") as file:
        while head := file.readline():
            call, number, size = head.decode().split()
            paths = [os.path.relpath(file.readline()[:-1].decode() or folder, folder) for _ in range(2)]
            data = file.read(int(size) + 1)[:-1]
            if paths[0] == "." or Path(paths[0]).parts[0] == "out":
                yield call, int(number), *paths, data


class Promise:
    """What a manifest names, as it was when the manifest took its name: whole files, and beginnings of growing ones."""

    def __init__(self, tree):
        self.text = tree[MANIFEST]
        text = self.text.decode()
        state = re.search(r"(?m)^state: (\w+)", text)[1]
        steps = re.findall(r"(?m)^  - \{step: (\d+),", text)
        self.is_complete = state == "complete"
        self.numbered = {f"out/checkpoints/checkpoint_{step}.h5" for step in steps}
        for path in tree:  # what a restart from the newest checkpoint does not write again
            found = re.fullmatch(r"out/(?!checkpoints)\w+/[a-z_]+_(\d+)\.h5", path)
            if found and (self.is_complete or (steps and int(found[1]) <= int(steps[-1]))):
                self.numbered.add(path)
        self.files = {path: (tree[path], False) for path in self.numbered}
        if self.is_complete or (state == "running" and not steps):
            self.files["out/config.yaml"] = tree["out/config.yaml"], False
        grown = re.findall(r"([\w/]+\.csv): \[(\d+)", text)
        grown += [("history.csv", size) for size in re.findall(r"bytes: (\d+)", text)]
        self.files |= {f"out/{name}": (tree[f"out/{name}"][: int(size)], True) for name, size in grown}
        if self.is_complete:
            self.files |= {path: (tree[path], False) for path in tree if path.endswith((".csv", ".pmd"))}

    def breach(self, tree):
        """Of this manifest in a state; empty where there is none."""
        for path, (expected, grows) in self.files.items():
            found = tree.get(path)
            if found is None or (not found.startswith(expected) if grows else found != expected):
                return f"{path} is not there" if found is None else f"{path} is not whole"
        extra = {path for path in tree if re.search(r"/[a-z_]+_\d+\.h5$", path)} - self.numbered
        return f"{sorted(extra)} of another run" if self.is_complete and extra else ""


class PowerLoss(OnRanks, FolderTest):
    def record(self, name, base, arguments, ranks):
        """Of each state that may follow a call of a run: the number of the call, what is wrong, and the state."""
        folder = self.place(f"{name}-new", base)
        disk = Disk(base)
        if name == "made":
            (folder / "out").mkdir()
            disk.root.change(names(out=Node({})))
        self.run_well_in(folder, *arguments, ranks=ranks, record=self.folder / name)
        promises = [Promise(tree)] if MANIFEST in (tree := disk.tree(lambda node: node.now)) else [None]
        least, seen = 0, set()
        for number, call in enumerate(read_calls(self.folder / name, folder), 1):
            node, change = disk.make(*call)
            if node:
                node.change(change)
            if call[0].startswith("rename") and call[2] == MANIFEST:
                promises.append(Promise(disk.tree(lambda node: node.now)))
            if call[0] == "fsync" and call[2] == "out":
                least = len(promises) - 1
            for tree in disk.states(node, change):
                key = hash((least, frozenset(tree.items())))
                if key not in seen:
                    seen.add(key)
                    yield number, self.breach(promises[least:], tree), tree
        for path in folder.glob("out/**/*"):
            if path.is_file() and path.name != ".lock":  # in which libc itself writes
                self.assertEqual(disk.find(path.relative_to(folder)).now, path.read_bytes(), path)

    def breach(self, promises, tree):
        """What is wrong with a state, which has to have one of the manifests, the first of which was synced."""
        text, listed = tree.get(MANIFEST), tree.get("out/files.txt", b"")
        if text is None:
            return "" if promises[0] is None else "the manifest is not there"
        for path in tree if b"restarting" not in text else ():  # which may write files of its first step again
            if path.endswith((".h5", ".csv", ".pmd")) and path.count("/") == 2 and path[4:].encode() not in listed:
                return f"{path} is not in files.txt"
        promise = next((each for each in reversed(promises) if each and each.text == text), None)
        return promise.breach(tree) if promise else "the manifest is not whole, or an older one"

    def check_start(self, ranks, name, base, arguments):
        count, wrong, states = 0, {}, {}
        for number, breach, tree in self.record(name, base, arguments, ranks):
            count += 1
            wrong |= {breach: number} if breach and breach not in wrong else {}
            # of unfinished files and the log --resume reads the names alone
            read = {path: None if path.endswith((".tmp", "log.txt")) else data for path, data in tree.items()}
            states.setdefault(hash(frozenset(read.items())), (number, tree))
        self.assertEqual(wrong, {}, "by the first call after which it may be so")
        old, new = (content(each / "out") if each else {} for each in (base, self.folder / f"{name}-new"))

        def check(case):
            folder = self.place(f"{name}-{case}")
            for path, data in states[case][1].items():
                (folder / path).mkdir(exist_ok=True) if data is None else (folder / path).write_bytes(data)
            wrong = self.check_resume(folder, ranks, NEW if arguments[-1] == NEW[-1] else [], old, new)
            shutil.rmtree(folder)
            return wrong and f"call {states[case][0]}: {wrong}"

        chosen = random.Random(1).sample(list(states), min(RUNS // (1 if ranks == 1 else 4), len(states)))
        self.check_all(check, chosen)
        print(f"{name}, {ranks} rank(s): {number} calls, {count} states, {len(chosen)} of {len(states)} gone on with")

    def check(self, ranks):
        """The starts of test_every_call.py, and one in a folder that was made a moment before and was not synced."""
        kinds = self.kinds(ranks) if SOAK or ranks == 1 else {}
        kinds["made"] = (None, ["run", "fault.yaml"])
        for name, (base, arguments) in kinds.items():
            with self.subTest(start=name):
                self.check_start(ranks, name, base, arguments)


if __name__ == "__main__":
    unittest.main()
