#!/usr/bin/env python3
"""palette_png.py FILE...: rewrite PNGs as taken by a browser (8 bits, RGB or RGBA) with at most 64 colours.

Pictures in docs/ stay small this way. Alpha is dropped: a screenshot has none. Uses nothing but the standard library.
"""
import collections
import struct
import sys
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunks(data):
    at = len(SIGNATURE)
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        yield kind, data[at + 8 : at + 8 + size]
        at += 12 + size


def paeth(left, up, corner):
    estimate = left + up - corner
    a, b, c = abs(estimate - left), abs(estimate - up), abs(estimate - corner)
    return left if a <= b and a <= c else up if b <= c else corner


def unfilter(kind, row, before, step):
    """PNG specification, section 9: undo the filter of one row in place."""
    if kind == 1:
        for i in range(step, len(row)):
            row[i] = (row[i] + row[i - step]) & 255
    elif kind == 2:
        for i, up in enumerate(before):
            row[i] = (row[i] + up) & 255
    elif kind == 3:
        for i, up in enumerate(before):
            row[i] = (row[i] + ((row[i - step] if i >= step else 0) + up) // 2) & 255
    elif kind == 4:
        for i, up in enumerate(before):
            left, corner = (row[i - step], before[i - step]) if i >= step else (0, 0)
            row[i] = (row[i] + paeth(left, up, corner)) & 255


def read(path):
    """Width, height and the pixels as numbers 0xRRGGBB, row by row."""
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith(SIGNATURE):
        sys.exit(f"{path}: not a PNG")
    parts = collections.defaultdict(bytes)
    for kind, body in chunks(data):
        parts[kind] += body
    width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    if depth != 8 or colours not in (2, 6) or interlaced:
        sys.exit(f"{path}: not a PNG as a browser takes it")
    step = 3 if colours == 2 else 4
    raw = zlib.decompress(parts[b"IDAT"])
    before = bytearray(width * step)
    pixels = []
    for y in range(height):
        at = y * (width * step + 1)
        row = bytearray(raw[at + 1 : at + 1 + width * step])
        unfilter(raw[at], row, before, step)
        pixels.extend(r << 16 | g << 8 | b for r, g, b in zip(row[0::step], row[1::step], row[2::step]))
        before = row
    return width, height, pixels


def distance(a, b):
    return sum((((a >> shift) & 255) - ((b >> shift) & 255)) ** 2 for shift in (0, 8, 16))


def palette_of(pixels, most):
    """The most frequent colours, and for every other one the nearest of them."""
    counts = collections.Counter(pixels)
    palette = [colour for colour, _ in counts.most_common(most)]
    place = {colour: index for index, colour in enumerate(palette)}
    for colour in counts:
        if colour not in place:
            place[colour] = min(range(len(palette)), key=lambda index: distance(palette[index], colour))
    return palette, place


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def write(path, width, height, pixels):
    palette, place = palette_of(pixels, 64)
    rows = b"".join(
        b"\0" + bytes(place[pixel] for pixel in pixels[y * width : (y + 1) * width]) for y in range(height)
    )
    with open(path, "wb") as file:
        file.write(SIGNATURE)
        file.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)))
        file.write(chunk(b"PLTE", b"".join(colour.to_bytes(3, "big") for colour in palette)))
        file.write(chunk(b"IDAT", zlib.compress(rows, 9)))
        file.write(chunk(b"IEND", b""))


def main():
    for path in sys.argv[1:]:
        write(path, *read(path))


if __name__ == "__main__":
    main()
