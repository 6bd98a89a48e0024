/** Every type that is accepted: how its first bytes tell it, and who can read the rest. */
export type MediaType =
  | { name: "png" | "jpeg" | "webp" | "gif"; reader: "sharp"; contentType: string }
  | { name: RecordingName; reader: "ffprobe"; demuxer: string };

type RecordingName = "mp3" | "wav" | "m4a" | "ogg" | "flac" | "mp4" | "webm" | "mov";

/** How many of the first bytes are enough to tell. */
export const headBytes = 4096;

export const acceptedTypes = "PNG, JPEG, WebP, GIF, MP3, WAV, M4A, OGG, FLAC, MP4, WebM or MOV";

const picture = (name: "png" | "jpeg" | "webp" | "gif"): MediaType => ({
  name,
  reader: "sharp",
  contentType: `image/${name}`,
});
const recording = (name: RecordingName, demuxer: string): MediaType => ({ name, reader: "ffprobe", demuxer });

/** The brands of ISO files that are videos or sound; others are images, which are not accepted in this form. */
const filmBrands = /^(isom|iso[2-9]|mp4[12]|avc1|dash|M4V |MSNV|mmp4|3gp[4-9])$/;
const soundBrands = /^(M4A |M4B )$/;

/** What the first bytes claim to be; `null` where they claim nothing that is accepted. */
export function detectMediaType(head: Buffer): MediaType | null {
  const marks = head.toString("latin1", 0, 12);
  if (marks.startsWith("\x89PNG\r\n\x1a\n")) return picture("png");
  if (marks.startsWith("\xff\xd8\xff")) return picture("jpeg");
  if (/^GIF8[79]a/.test(marks)) return picture("gif");
  if (marks.startsWith("RIFF") && marks.endsWith("WEBP")) return picture("webp");
  if (marks.startsWith("RIFF") && marks.endsWith("WAVE")) return recording("wav", "wav");
  if (marks.startsWith("fLaC")) return recording("flac", "flac");
  if (marks.startsWith("OggS")) return recording("ogg", "ogg");
  if (marks.startsWith("\x1aE\xdf\xa3")) return isWebm(head) ? recording("webm", "matroska") : null;
  if (marks.slice(4, 8) === "ftyp") return detectIsoType(marks.slice(8, 12));
  return marks.startsWith("ID3") || isMp3Frame(head) ? recording("mp3", "mp3") : null;
}

function detectIsoType(brand: string): MediaType | null {
  if (brand === "qt  ") return recording("mov", "mov");
  if (soundBrands.test(brand)) return recording("m4a", "mov");
  return filmBrands.test(brand) ? recording("mp4", "mov") : null;
}

/** Its first element names the kind of document; Matroska at large is more than browsers and models play. */
function isWebm(head: Buffer): boolean {
  const docType = Buffer.from([0x42, 0x82, 0x84, ...Buffer.from("webm")]);
  return head.subarray(0, 64).includes(docType);
}

/** The sync word of a frame of layer III, with a bit rate and a sampling rate that exist. */
function isMp3Frame(head: Buffer): boolean {
  const [sync = 0, version = 0, rates = 0] = head;
  const isLayerThree = sync === 0xff && (version & 0xe6) === 0xe2 && (version & 0x18) !== 0x08;
  return isLayerThree && rates >> 4 !== 0 && rates >> 4 !== 15 && (rates & 0x0c) !== 0x0c;
}
