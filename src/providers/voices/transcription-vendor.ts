import type { Transcript, TranscriptionCall, TranscriptionRequest } from "../transcription.ts";
import type { SpeechVendor } from "./speech-vendor.ts";

/** How a vendor of speech also transcribes: a recording in, the whole transcript in the response. */
export type TranscriptionVendor = Pick<SpeechVendor, "baseUrl" | "auth" | "fault" | "kinds"> & {
  /** The options of a request that the vendor has. */
  takes: ReadonlySet<"language" | "temperature">;
  write(call: Pick<TranscriptionCall, "request" | "recording" | "upstreamModel">): TranscriptionUpload;
  /** `null` if it is not a transcript. */
  read(body: unknown, request: TranscriptionRequest): Transcript | null;
};

type TranscriptionUpload = {
  /** With the query. */
  path: string;
  contentType: string;
  bytes: number;
  body: AsyncIterable<Uint8Array>;
};
