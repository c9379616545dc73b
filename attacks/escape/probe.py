# The same as probe.c for machines without a compiler: see there for the words. Ring 2: hostile by trade.
import ctypes
import mmap
import os
import resource
import signal
import socket
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
kept, results = [], []


def refused(error):
    print("refused %s" % error, flush=True)


def through():
    print("through", flush=True)


def parse(text):
    """The value, and what is left of the text."""
    if text.startswith("="):
        buffer = ctypes.create_string_buffer(text[1:].encode())
    elif text.startswith("%"):
        digits = text[1 : 1 + next((i for i, c in enumerate(text[1:]) if c not in "0123456789abcdef"), len(text))]
        buffer = ctypes.create_string_buffer(bytes.fromhex(digits) + bytes(16))
        kept.append(buffer)
        return ctypes.addressof(buffer), text[1 + len(digits) :]
    elif text.startswith("["):
        words, text = [], text[1:]
        while text and not text.startswith("]"):
            value, text = parse(text)
            words.append(value)
            text = text[1:] if text.startswith(",") else text
        buffer = (ctypes.c_long * 64)(*words)
        kept.append(buffer)
        return ctypes.addressof(buffer), text[1:]
    else:
        end = next((i for i, c in enumerate(text) if c in ",]"), len(text))
        word = text[:end]
        return results[int(word[1:]) - 1] if word.startswith("$") else int(word, 0), text[end:]
    kept.append(buffer)
    return ctypes.addressof(buffer), ""


def calls(args):
    made = []
    for word in args:
        if word == "--":
            made.append([])
        else:
            made[-1].append(word)
    for number, *rest in made:
        forks = number.startswith("!")
        values = [ctypes.c_long(parse(text)[0]) for text in rest]
        result = libc.syscall(ctypes.c_long(int(number.lstrip("!"), 0)), *values)
        if result < 0:
            return refused(ctypes.get_errno())
        if forks and result == 0:
            os._exit(0)
        results.append(result)
    through()


def int80():
    # mov eax, 20; int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("b814000000cd80c3"))
    run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    result = run()
    through() if result > 0 else refused(-result)


def close_streams():
    for stream in range(3):
        os.close(stream)


def be_watched():
    # Whoever watches looks once a second; where others keep it from the processors, later.
    time.sleep(10)


# Of what stays until it is ended: with no pid namespace nobody else ends it.
LIFE_SECONDS = 60


def sleeper():
    child = os.fork()
    if child == 0:
        close_streams()
        signal.alarm(LIFE_SECONDS)
        while True:
            signal.pause()
    return child


def attach():
    child = sleeper()
    result = libc.ptrace(16, child, 0, 0)
    error = ctypes.get_errno()
    os.kill(child, signal.SIGKILL)
    refused(error) if result < 0 else through()


def read_memory():
    child = sleeper()
    there = ctypes.create_string_buffer(b"a word in memory")
    here = ctypes.create_string_buffer(len(there))
    to = (ctypes.c_long * 2)(ctypes.addressof(here), len(here))
    of = (ctypes.c_long * 2)(ctypes.addressof(there), len(there))
    result = libc.process_vm_readv(child, to, ctypes.c_ulong(1), of, ctypes.c_ulong(1), ctypes.c_ulong(0))
    error = ctypes.get_errno()
    os.kill(child, signal.SIGKILL)
    refused(error) if result < 0 else through()


def children(most, ends):
    for _ in range(most):
        if not ends:
            sleeper()
        elif os.fork() == 0:
            os._exit(0)
    if most > 10:
        be_watched()
    through()


def hold(mib, parts):
    for _ in range(parts - 1):
        if os.fork() == 0:
            close_streams()
            signal.alarm(LIFE_SECONDS)
            held = bytearray(b"\1") * (mib << 20)
            while held:
                signal.pause()
    held = bytearray(b"\1") * (mib << 20)
    be_watched()
    through() if held else refused(5)


def spin(seconds, parts):
    for _ in range(parts):
        if os.fork() == 0:
            while sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) < seconds:
                pass
            os._exit(0)
    well = all(os.wait()[1] == 0 for _ in range(parts))
    through() if well else refused("SIGXCPU")


def fill(mib):
    held, pairs = 0, []
    while held < mib << 20:
        pair = socket.socketpair()
        pairs.append(pair)
        for side in pair:
            side.setblocking(False)
            try:
                while True:
                    held += side.send(bytes(65536))
            except BlockingIOError:
                pass
    return pairs


def buffers(mib, parts):
    for _ in range(parts - 1):
        if os.fork() == 0:
            close_streams()
            signal.alarm(LIFE_SECONDS)
            try:
                pairs = fill(mib // parts)
            except OSError:
                pass
            while True:
                signal.pause()
    pairs = fill(mib // parts)
    be_watched()
    through() if pairs else refused(5)


def tables(gib):
    zeros = mmap.mmap(-1, gib << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
    read = any(zeros[at] for at in range(0, gib << 30, 2 << 20))
    be_watched()
    refused(5) if read else through()


def main():
    verb, args = sys.argv[1], sys.argv[2:]
    number = int(args[0]) if args and verb not in ("call",) else 0
    parts = int(args[1]) if len(args) > 1 and verb != "call" else 1
    try:
        {
            "call": lambda: calls(["--", *args]),
            "int80": int80,
            "ptrace": attach,
            "readv": read_memory,
            "children": lambda: children(number, False),
            "zombies": lambda: children(number, True),
            "hold": lambda: hold(number, parts),
            "spin": lambda: spin(number, parts),
            "buffers": lambda: buffers(number, parts),
            "tables": lambda: tables(number),
        }[verb]()
    except MemoryError:
        refused("ENOMEM")
    except OSError as error:
        refused(error.errno)


main()
