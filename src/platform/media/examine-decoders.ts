import { findConfinement } from "../confinement/find-confinement.ts";
import { OperatorError } from "../errors/operator-error.ts";
import { findMediaTools, isMaintained, type MediaTool } from "./find-media-tools.ts";

/** What an operator should know of the programs that read what strangers sent. */
export type DecoderFinding = {
  check: "decoders" | "confinement";
  isOk: boolean;
  message: string;
  /** Where it is not. */
  remedy?: string;
};

const installDecoder =
  "Install one that gets security updates, and start again: apt-get install ffmpeg (Debian 12 or later; elsewhere a current build on the PATH).";
const installConfinement =
  "Install bubblewrap (apt-get install bubblewrap) where user namespaces are open, or Perl on a kernel with Landlock (5.13 or later); docs/operating/files.md says more.";

/** Looks at the machine, once; never throws. */
export async function examineDecoders(): Promise<DecoderFinding[]> {
  const confinement = await findConfinement();
  const isConfined = confinement.kind !== "none";
  const tools = await examineTools(isConfined);
  if (confinement.kind === "none") {
    const message = `nothing on this machine confines the programs that decode uploads: ${confinement.reason}`;
    return [tools, { check: "confinement", isOk: false, message, remedy: installConfinement }];
  }
  const by = confinement.kind === "confined" ? confinement.mechanism : "whoever started this process";
  return [tools, { check: "confinement", isOk: true, message: `decoders are confined by ${by}` }];
}

async function examineTools(isConfined: boolean): Promise<DecoderFinding> {
  try {
    const { ffmpeg, ffprobe } = await findMediaTools();
    const [old] = [ffmpeg, ffprobe].filter((tool) => !isMaintained(tool));
    if (old === undefined) return { check: "decoders", isOk: true, message: describeTools([ffmpeg, ffprobe]) };
    const consequence = isConfined
      ? "it runs confined, but its flaws are public"
      : "video and audio that strangers send are refused";
    const message = `${old.path} is of ${old.year}: ${consequence}`;
    return { check: "decoders", isOk: false, message, remedy: installDecoder };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { check: "decoders", isOk: false, message: error.message, remedy: error.remedy };
  }
}

function describeTools(tools: readonly MediaTool[]): string {
  return tools.map(({ path, year }) => `${path} of ${year}`).join(", ");
}
