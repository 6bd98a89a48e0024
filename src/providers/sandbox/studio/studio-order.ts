import type { Launchers } from "../../../platform/confinement/find-launchers.ts";
import type { Confinement } from "../../../platform/confinement/spawn-confined.ts";
import type { MediaTools } from "../../../platform/media/find-media-tools.ts";
import type { GenerationRequest } from "../../generation.ts";

/** What a process of the studio is told to make: all it needs, as JSON on its standard input. */
export type StudioOrder = {
  /** Without words of the script. */
  request: GenerationRequest;
  inputs: readonly { role: "image" | "person" | "audio"; contentType: string; path: string }[];
  /** Where it may write. */
  folder: string;
  /** Where ffmpeg is and how it is started; `null` where it is not needed. */
  machine: StudioMachine | null;
};

export type StudioMachine = { tools: MediaTools; launchers: Launchers; confinement: Confinement };

/** What it says of its work: one line of JSON each on its standard output. */
export type StudioReport =
  | { kind: "progress"; percent: number }
  /** A file in the folder, finished. */
  | { kind: "output"; type: "image" | "video" | "audio"; name: string }
  /** What was ordered cannot be made. The message is for logs. */
  | { kind: "refusal"; message: string };

export type ReportStudio = (report: StudioReport) => void;

/** The order asks for what no studio could make, such as a picture of a file that is none. */
export class OrderRefusal extends Error {
  override readonly name = "OrderRefusal";
}
