import type { VoiceKind } from "../provider-definition.ts";
import { deepgram } from "./deepgram.ts";
import { deepgramTranscription } from "./deepgram-transcription.ts";
import { elevenlabs } from "./elevenlabs.ts";
import { elevenlabsTranscription } from "./elevenlabs-transcription.ts";
import { hume } from "./hume.ts";
import { lmnt } from "./lmnt.ts";
import { minimaxSpeech } from "./minimax-speech.ts";
import { mistralSpeech } from "./mistral-speech.ts";
import type { SpeechVendor } from "./speech-vendor.ts";
import type { TranscriptionVendor } from "./transcription-vendor.ts";
import { xaiSpeech } from "./xai-speech.ts";

/** The vendors by their kind in the catalog. */
export const speechVendors = {
  deepgram,
  elevenlabs,
  hume,
  lmnt,
  "minimax-speech": minimaxSpeech,
  "mistral-speech": mistralSpeech,
  "xai-speech": xaiSpeech,
} as const satisfies Record<VoiceKind, SpeechVendor>;

/** Those that also transcribe. */
export const transcriptionVendors: Partial<Record<VoiceKind, TranscriptionVendor>> = {
  deepgram: deepgramTranscription,
  elevenlabs: elevenlabsTranscription,
};
