/** Accepted types and their readers. */
export type MediaType =
  | { name: "png" | "jpeg" | "webp" | "gif"; reader: "sharp"; contentType: string }
  | { name: RecordingName; reader: "ffmpeg"; demuxer: string };

type RecordingName = "mp3" | "wav" | "m4a" | "ogg" | "flac" | "mp4" | "webm" | "mov";

/** Enough to detect any type. */
export const headBytes = 4096;

export const acceptedTypes = "PNG, JPEG, WebP, GIF, MP3, WAV, M4A, OGG, FLAC, MP4, WebM, MOV or PDF";

const image = (name: "png" | "jpeg" | "webp" | "gif"): MediaType => ({
  name,
  reader: "sharp",
  contentType: `image/${name}`,
});
const recording = (name: RecordingName, demuxer: string): MediaType => ({ name, reader: "ffmpeg", demuxer });

/** ISO brands of video and audio; others, such as HEIF images, are not accepted. */
const videoBrands = /^(isom|iso[2-9]|mp4[12]|avc1|dash|M4V |MSNV|mmp4|3gp[4-9])$/;
const audioBrands = /^(M4A |M4B )$/;

/** Detects the type by magic bytes; `null` if not accepted. */
export function detectMediaType(head: Buffer): MediaType | null {
  const marks = head.toString("latin1", 0, 12);
  if (marks.startsWith("\x89PNG\r\n\x1a\n")) return image("png");
  if (marks.startsWith("\xff\xd8\xff")) return image("jpeg");
  if (/^GIF8[79]a/.test(marks)) return image("gif");
  if (marks.startsWith("RIFF") && marks.endsWith("WEBP")) return image("webp");
  if (marks.startsWith("RIFF") && marks.endsWith("WAVE")) return recording("wav", "wav");
  if (marks.startsWith("fLaC")) return recording("flac", "flac");
  if (marks.startsWith("OggS")) return recording("ogg", "ogg");
  if (marks.startsWith("\x1aE\xdf\xa3")) return isWebm(head) ? recording("webm", "matroska") : null;
  if (marks.slice(4, 8) === "ftyp") return detectIsoType(marks.slice(8, 12));
  return marks.startsWith("ID3") || isMp3Frame(head) ? recording("mp3", "mp3") : null;
}

function detectIsoType(brand: string): MediaType | null {
  if (brand === "qt  ") return recording("mov", "mov");
  if (audioBrands.test(brand)) return recording("m4a", "mov");
  return videoBrands.test(brand) ? recording("mp4", "mov") : null;
}

/** WebM only: browsers and models do not play all of Matroska. */
function isWebm(head: Buffer): boolean {
  const docType = Buffer.from([0x42, 0x82, 0x84, ...Buffer.from("webm")]);
  return head.subarray(0, 64).includes(docType);
}

/** A layer III sync word with valid bit and sampling rates. */
function isMp3Frame(head: Buffer): boolean {
  const [sync = 0, version = 0, rates = 0] = head;
  const isLayerThree = sync === 0xff && (version & 0xe6) === 0xe2 && (version & 0x18) !== 0x08;
  return isLayerThree && rates >> 4 !== 0 && rates >> 4 !== 15 && (rates & 0x0c) !== 0x0c;
}
