import { setTimeout as wait } from "node:timers/promises";
import { ProviderError } from "../../../../src/providers/contract.ts";
import type {
  Recording,
  Transcript,
  TranscriptionCall,
  TranscriptionProvider,
  TranscriptionRequest,
} from "../../../../src/providers/transcription.ts";
import { detectLanguage, type Language } from "../chat/sandbox-languages.ts";
import { createScriptedError, parseScript, type SandboxScript } from "../sandbox-script.ts";
import { findSpokenText } from "../studio/speech/spoken-mark.ts";
import { timeWords } from "./time-words.ts";

const silentMsMax = 20 * 60_000;

const languageNames = {
  en: "english",
  de: "german",
  fr: "french",
  es: "spanish",
  zh: "chinese",
  ja: "japanese",
} as const satisfies Record<Language, string>;

/**
 * Recognises the sandbox's own speech by the text in the file. For any other recording it returns its length and that
 * it was not understood. Script words are in the prompt.
 */
export function createSandboxTranscription(): TranscriptionProvider {
  return {
    findObstacle,
    async transcribe(call) {
      const { script } = parseScript(call.request.prompt ?? "");
      const signal = AbortSignal.any([call.signal, AbortSignal.timeout(call.timeoutMs)]);
      try {
        return await listen(call, script, signal);
      } catch (error) {
        call.signal.throwIfAborted();
        throw signal.aborted ? new ProviderError("timeout", "The time of the call is over.") : error;
      }
    },
    close: async () => {},
  };
}

function findObstacle({ isDiarized, hasLogprobs, chunking }: TranscriptionRequest) {
  if (isDiarized) return { param: "response_format", message: "This model does not support diarization." };
  if (hasLogprobs) return { param: "include", message: "This model does not support logprobs." };
  if (chunking !== null && chunking !== "auto") {
    return { param: "chunking_strategy", message: "This model supports only `auto`." };
  }
  return null;
}

async function listen(call: TranscriptionCall, script: SandboxScript, signal: AbortSignal): Promise<Transcript> {
  if (script.delayMs > 0) await wait(script.delayMs, null, { signal });
  if (script.failure !== null) throw script.failure;
  if (script.isSilent) await wait(silentMsMax, null, { signal, ref: false });
  const transcript = await writeDown(call);
  call.onAccepted();
  if (script.isEmpty) return { ...transcript, text: "", segments: [], words: [] };
  let pieces = 0;
  for (const text of call.onPieces === null ? [] : (transcript.text.match(/\s*\S+/g) ?? [])) {
    if (script.cutAfterPieces !== null && pieces >= script.cutAfterPieces) {
      throw createScriptedError("unreachable", "The script breaks the connection.");
    }
    if (script.slowMs > 0 && pieces > 0) await wait(script.slowMs, null, { signal });
    call.onPieces?.([{ kind: "text", text }]);
    pieces += 1;
  }
  return transcript;
}

async function writeDown({ request, recording }: TranscriptionCall): Promise<Transcript> {
  const said = await findSpokenText(await recording.open());
  const language = said === null ? "en" : detectLanguage(said);
  const text = said === null ? describeStranger(recording) : sayIn(request.task, said, language);
  return {
    ...{ text, ...timeWords(text, recording.durationMs) },
    language: request.task === "translate" ? languageNames.en : languageNames[language],
    ...{ speakers: [], logprobs: null, usage: null },
  };
}

function describeStranger({ durationMs }: Recording): string {
  const seconds = (durationMs / 1000).toFixed(1);
  return `A recording of ${seconds} seconds. The sandbox writes down only what its own speech models have said.`;
}

/** It does not translate, and says so. */
function sayIn(task: TranscriptionRequest["task"], said: string, language: Language): string {
  if (task === "transcribe" || language === "en") return said;
  return `The sandbox does not translate. In ${languageNames[language]} it was said: ${said}`;
}
