import { findConfinement } from "../confinement/find-confinement.ts";
import { OperatorError } from "../errors/operator-error.ts";
import { findMediaTools, isMaintained, type MediaTool } from "./find-media-tools.ts";

/** A finding about the programs that decode user-supplied files. */
export type DecoderFinding = {
  check: "decoders" | "confinement";
  isOk: boolean;
  message: string;
  remedy?: string;
};

const installDecoder =
  "Install a maintained ffmpeg and restart: apt-get install ffmpeg (Debian 12 or later; elsewhere a current build on the PATH).";
const installConfinement =
  "Install bubblewrap (apt-get install bubblewrap) if user namespaces are allowed, or Perl on a kernel with Landlock (5.13 or later). See docs/operating/files.md.";

/** Inspects the machine. Never throws. */
export async function examineDecoders(): Promise<DecoderFinding[]> {
  const confinement = await findConfinement();
  const isConfined = confinement.kind !== "none";
  const tools = await examineTools(isConfined);
  if (confinement.kind === "none") {
    const message = `programs that decode uploads are not confined: ${confinement.reason}`;
    return [tools, { check: "confinement", isOk: false, message, remedy: installConfinement }];
  }
  const by = confinement.kind === "confined" ? confinement.mechanism : "the parent process";
  return [tools, { check: "confinement", isOk: true, message: `decoders are confined by ${by}` }];
}

async function examineTools(isConfined: boolean): Promise<DecoderFinding> {
  try {
    const { ffmpeg, ffprobe } = await findMediaTools();
    const [old] = [ffmpeg, ffprobe].filter((tool) => !isMaintained(tool));
    if (old === undefined) return { check: "decoders", isOk: true, message: describeTools([ffmpeg, ffprobe]) };
    const consequence = isConfined
      ? "it runs confined, but has known vulnerabilities"
      : "uploads of video and audio are rejected";
    const message = `${old.path} dates from ${old.year}: ${consequence}`;
    return { check: "decoders", isOk: false, message, remedy: installDecoder };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { check: "decoders", isOk: false, message: error.message, remedy: error.remedy };
  }
}

function describeTools(tools: readonly MediaTool[]): string {
  return tools.map(({ path, year }) => `${path} (${year})`).join(", ");
}
