import type { Adapter } from "../../../src/providers/adapter.ts";
import { createSandboxChat } from "./chat/create-sandbox-chat.ts";
import { createSandboxEmbedding } from "./embedding/create-sandbox-embedding.ts";
import { createSandboxGeneration } from "./studio/create-sandbox-generation.ts";
import { createStudio } from "./studio/create-studio.ts";
import { createSandboxSpeech } from "./studio/speech/create-sandbox-speech.ts";
import { createSandboxTranscription } from "./transcription/create-sandbox-transcription.ts";

/**
 * Models without network access and costs: chat, images, video, avatars, speech and its transcription, and embeddings.
 * Deterministic. Words in double brackets make them fail, wait or break off.
 */
export const sandbox: Adapter = {
  createChat: ({ clock }) => createSandboxChat({ clock }),
  createMedia({ clock, folder }) {
    const studio = createStudio({ folder, clock });
    return {
      generation: createSandboxGeneration({ studio }),
      speech: createSandboxSpeech({ studio }),
      embedding: createSandboxEmbedding(),
      transcription: createSandboxTranscription(),
    };
  },
};
