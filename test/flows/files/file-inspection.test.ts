import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import { createImageReader } from "../../../src/platform/media/create-image-reader.ts";
import { inspectMedia } from "../../../src/platform/media/inspect-media.ts";
import {
  encode,
  type MediaName,
  makeMedia,
  mediaNames,
  mediaSize,
  mediaTable,
} from "../../harness/media/media-files.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-inspection-"));
const images = createImageReader();
let count = 0;

afterAll(async () => {
  await images.close();
  rmSync(folder, { recursive: true });
});

async function inspect(bytes: Buffer, signal = new AbortController().signal) {
  count += 1;
  const path = join(folder, String(count));
  writeFileSync(path, bytes);
  return await inspectMedia(path, { images, signal });
}

/** `null` if the bytes are accepted. */
async function findReason(bytes: Buffer): Promise<string | null> {
  const inspection = await inspect(bytes);
  return inspection.kind === "refused" ? inspection.reason : null;
}

const zip = Buffer.from(
  "UEsDBAoAAAAAAAAAIQCsKpPYAgAAAAIAAAABAAAAYWhpUEsBAhQACgAAAAAAAAAhAKwqk9gCAAAAAgAAAAEAAAAAAAAAAAAAAAAAAAAAAGFQSwUGAAAAAAEAAQAvAAAAIQAAAAAA",
  "base64",
);

describe.each(mediaNames)("a %s", (name) => {
  test("is recognized by its content", async () => {
    const { kind, contentType } = mediaTable[name];
    const { width, height, seconds } = mediaSize;
    const size = kind === "audio" ? { width: null, height: null } : { width, height };
    const inspection = await inspect(await makeMedia(name));
    expect(inspection).toMatchObject({ kind: "accepted", media: { kind, contentType, ...size } });
    const durationMs = inspection.kind === "accepted" ? inspection.media.durationMs : null;
    if (kind === "image") expect(durationMs).toBeNull();
    // Encoders pad the sound to whole frames.
    else expect(Math.abs((durationMs ?? 0) - seconds * 1000)).toBeLessThan(150);
  });

  test("that was cut off anywhere is refused", async () => {
    const bytes = await makeMedia(name);
    for (const share of [0.02, 0.1, 0.25, 0.5, 0.75, 0.85]) {
      expect(await findReason(bytes.subarray(0, Math.floor(bytes.length * share))), `${share}`).not.toBeNull();
    }
  });

  test("that is also an archive is refused", async () => {
    const bytes = await makeMedia(name);
    expect(await findReason(Buffer.concat([bytes, zip]))).toMatch(/another format|extra data/);
    const commented = Buffer.concat([zip.subarray(0, -2), Buffer.from([2, 0]), Buffer.from("ok")]);
    expect(await findReason(Buffer.concat([bytes, commented]))).toMatch(/another format|extra data/);
    const sevenZip = Buffer.from([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c, ...Array(200_000).fill(1)]);
    expect(await findReason(Buffer.concat([bytes, sevenZip]))).toMatch(/another format|extra data|damaged/);
    const rar = Buffer.from("Rar!\x1a\x07\x00 and more", "latin1");
    expect(await findReason(Buffer.concat([bytes, rar]))).toMatch(/another format|extra data|damaged/);
  });

  test("that is also a page, a program or a document is refused", async () => {
    const bytes = await makeMedia(name);
    for (const text of ["<script>alert(1)</script>", "<HTML><body>", "<?php system($x);", "%PDF-1.7\n"]) {
      expect(await findReason(Buffer.concat([bytes, Buffer.from(text)])), text).toMatch(/another format|extra data/);
    }
  });

  test("of which only the first bytes are right is refused", async () => {
    const head = (await makeMedia(name)).subarray(0, 64);
    const noise = Buffer.alloc(20_000, "All work and no play makes Jack a dull boy. ");
    expect(await findReason(Buffer.concat([head, noise]))).not.toBeNull();
    expect(await findReason(head)).not.toBeNull();
  });
});

test("a complete PDF is accepted, a truncated one or one with an archive behind it is refused", async () => {
  const pdf = Buffer.from("%PDF-1.4\n1 0 obj << >> endobj\ntrailer << >>\n%%EOF\n");
  expect(await findReason(pdf)).toBeNull();
  expect(await findReason(pdf.subarray(0, -8))).toMatch(/incomplete/);
  expect(await findReason(Buffer.concat([pdf, zip]))).toMatch(/extra data/);
});

describe("content of an unsupported type", () => {
  test.each([
    ["nothing", Buffer.alloc(0)],
    ["one byte", Buffer.from("G")],
    ["text", Buffer.from("Hello.")],
    ["SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')],
    ["HTML", Buffer.from("<!doctype html><title>x</title>")],
    ["XML", Buffer.from('<?xml version="1.0"?><a/>')],
    ["a ZIP archive", zip],
    ["gzip", Buffer.from("H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==", "base64")],
    ["a program", Buffer.from("\x7fELF\x02\x01\x01", "latin1")],
    ["zeros", Buffer.alloc(100_000)],
    ["a playlist that leads elsewhere", Buffer.from("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n")],
    ["a list of files for ffmpeg", Buffer.from("ffconcat version 1.0\nfile /etc/passwd\n")],
  ])("is refused: %s", async (_name, bytes) => {
    expect(await findReason(bytes)).toMatch(/must be PNG|is empty/);
  });

  test.each(["tiff", "avif"] as const)("is refused, also a real %s", async (format) => {
    const bytes = await sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } })
      .toFormat(format)
      .toBuffer();
    expect(await findReason(bytes)).toMatch(/must be PNG/);
  });

  test.each([
    ["aac", ["-f", "lavfi", "-i", "sine=d=1"]],
    ["mkv", ["-f", "lavfi", "-i", "sine=d=1", "-c:a", "aac"]],
    ["avi", ["-f", "lavfi", "-i", "sine=d=1"]],
    ["ts", ["-f", "lavfi", "-i", "sine=d=1"]],
  ])("is refused, also a real %s", async (extension, words) => {
    expect(await findReason(await encode(extension, words))).toMatch(/must be PNG/);
  });
});

describe("a decompression bomb", () => {
  /** A PNG that claims a size and has next to no pixels. */
  function createPngHeader(width: number, height: number): Buffer {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(width, 0);
    header.writeUInt32BE(height, 4);
    header.set([8, 2, 0, 0, 0], 8);
    const chunk = (type: string, data: Buffer): Buffer => {
      const body = Buffer.concat([Buffer.from(type), data]);
      const frame = Buffer.alloc(8);
      frame.writeUInt32BE(data.length, 0);
      frame.writeUInt32BE(crc32(body), 4);
      return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
    };
    const parts = [chunk("IHDR", header), chunk("IDAT", Buffer.alloc(20)), chunk("IEND", Buffer.alloc(0))];
    return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...parts]);
  }

  test.each([
    [65_535, 65_535],
    [16_385, 1],
    [1, 16_385],
    [7072, 7071],
  ])("of %i × %i pixels is refused by its header", async (width, height) => {
    expect(await findReason(createPngHeader(width, height))).toMatch(/megapixels|damaged/);
  });

  test("is anything just above the limit, and nothing just below it", async () => {
    const draw = (width: number, height: number) =>
      sharp({ create: { width, height, channels: 3, background: "white" } })
        .png({ compressionLevel: 9 })
        .toBuffer();
    expect(await findReason(await draw(16_384, 10))).toBeNull();
    expect(await findReason(await draw(16_385, 10))).toMatch(/16384 pixels on a side/);
    expect(await findReason(await draw(10_000, 5000))).toBeNull();
    expect(await findReason(await draw(10_000, 5001))).toMatch(/50 megapixels/);
  });

  /** A GIF with this many frames, each with at most one pixel. */
  function createGif(frames: number, side = 1): Buffer {
    const head = Buffer.from("4749463839610000000080000000000000ffffff", "hex");
    head.writeUInt16LE(side, 6);
    head.writeUInt16LE(side, 8);
    const frame = Buffer.from("21f90400000000002c0000000001000100000202440100", "hex");
    frame.writeUInt16LE(side, 13);
    frame.writeUInt16LE(side, 15);
    const body = Buffer.alloc(frame.length * frames);
    for (let at = 0; at < body.length; at += frame.length) frame.copy(body, at);
    return Buffer.concat([head.subarray(0, 13), head.subarray(13, 19), body, Buffer.from([0x3b])]);
  }

  test("of thousands of frames is refused by their count", async () => {
    expect(await findReason(createGif(3))).toBeNull();
    expect(await findReason(createGif(1000))).toBeNull();
    expect(await findReason(createGif(1001))).toMatch(/more than 1000 frames/);
    expect(await findReason(createGif(100_000))).toMatch(/more than 1000 frames/);
  });

  test("of few large frames is refused by their total size", async () => {
    expect(await findReason(createGif(6, 7000))).toMatch(/250 megapixels/);
    expect(await findReason(createGif(1, 7100))).toMatch(/50 megapixels/);
  });
});

describe("a recording", () => {
  test("with a cover image is audio", async () => {
    const picture = ["-f", "lavfi", "-i", "color=red:s=64x64:d=0.04:r=25"];
    const cover = [
      "-map",
      "0:a",
      "-map",
      "1:v",
      "-c:v",
      "mjpeg",
      "-disposition:v",
      "attached_pic",
      "-id3v2_version",
      "3",
    ];
    const bytes = await encode("mp3", ["-f", "lavfi", "-i", "sine=d=2", ...picture, ...cover]);
    expect(await inspect(bytes)).toMatchObject({ media: { kind: "audio", contentType: "audio/mpeg", width: null } });
  });

  test("in a video container without a video track is audio", async () => {
    const words = ["-f", "lavfi", "-i", "sine=d=2"];
    expect(await inspect(await encode("mp4", words))).toMatchObject({
      media: { kind: "audio", contentType: "audio/mp4" },
    });
    const sound = await encode("webm", [...words, "-c:a", "libopus"]);
    expect(await inspect(sound)).toMatchObject({ media: { kind: "audio", contentType: "audio/webm" } });
  });

  test("that was written into a pipe has no length in its header and is accepted", async () => {
    const wav = Buffer.from(await makeMedia("wav"));
    wav.writeUInt32LE(0xffffffff, 4);
    wav.writeUInt32LE(0xffffffff, wav.indexOf("data") + 4);
    expect(await inspect(wav)).toMatchObject({ media: { durationMs: mediaSize.seconds * 1000 } });
    const words = ["-f", "lavfi", "-i", "sine=d=2", "-write_xing", "0"];
    expect(await inspect(await encode("mp3", words))).toMatchObject({ kind: "accepted" });
    const pieces = ["-movflags", "frag_keyframe+empty_moov"];
    expect(await inspect(await encode("mp4", [...words.slice(0, 4), ...pieces]))).toMatchObject({ kind: "accepted" });
  });

  test("with an unsupported codec is refused", async () => {
    const words = ["-f", "lavfi", "-i", "testsrc=s=64x64:d=1:r=5"];
    expect(await findReason(await encode("mov", [...words, "-c:v", "qtrle"]))).toMatch(/has an unsupported codec/);
    expect(await findReason(await encode("ogg", [...words, "-c:v", "libtheora"]))).toMatch(/has an unsupported codec/);
    expect(await findReason(await encode("mov", [...words, "-c:v", "png"]))).toMatch(/has an unsupported codec/);
  });

  test("with more than 8192 pixels on a side, or with too many tracks, is refused", async () => {
    const wide = ["-f", "lavfi", "-i", "color=red:s=8208x16:d=0.2:r=5", "-c:v", "mjpeg"];
    expect(await findReason(await encode("mov", wide))).toMatch(/8192 pixels on a side/);
    const large = ["-f", "lavfi", "-i", "color=red:s=8208x8208:d=0.2:r=5", "-c:v", "mjpeg"];
    expect(await findReason(await encode("mov", large))).toMatch(/8192 pixels on a side/);
    const tracks = Array.from({ length: 9 }, () => ["-map", "0:a"]).flat();
    const many = await encode("m4a", ["-f", "lavfi", "-i", "sine=d=1", ...tracks]);
    expect(await findReason(many)).toMatch(/more than 8 streams/);
  });

  test("is read to its end, also where it is not decoded", async () => {
    const bytes = await encode("webm", ["-f", "lavfi", "-i", "sine=d=30", "-c:a", "libopus"]);
    expect(await inspect(bytes)).toMatchObject({ media: { durationMs: expect.closeTo(30_000, -2) } });
    expect(await findReason(bytes.subarray(0, Math.floor(bytes.length * 0.9)))).not.toBeNull();
  });

  test("whose uploader disconnects is not inspected any further", async () => {
    const leaving = AbortSignal.abort(new Error("gone"));
    await expect(inspect(await makeMedia("mp4"), leaving)).rejects.toThrow("gone");
  });
});

describe("an image", () => {
  test("has its displayed size, not its stored size", async () => {
    const bytes = await sharp(await makeMedia("jpeg"))
      .withMetadata({ orientation: 6 })
      .toBuffer();
    const { width, height } = mediaSize;
    expect(await inspect(bytes)).toMatchObject({ media: { width: height, height: width } });
  });

  test("with data that phones append is accepted if it is an image", async () => {
    const bytes = await makeMedia("jpeg");
    expect(await findReason(Buffer.concat([bytes, bytes]))).toBeNull();
  });

  test.each<MediaName>(["png", "gif", "webp"])(
    "%s with zeros after its end is valid, with letters it is not",
    async (name) => {
      const bytes = await makeMedia(name);
      expect(await findReason(Buffer.concat([bytes, Buffer.alloc(100)]))).toBeNull();
      expect(await findReason(Buffer.concat([bytes, Buffer.from("hello")]))).toMatch(/extra data after its end/);
      expect(await findReason(Buffer.concat([bytes, Buffer.alloc(70_000)]))).toMatch(/extra data after its end/);
    },
  );
});
