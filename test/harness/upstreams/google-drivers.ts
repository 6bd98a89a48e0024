import { createGoogle } from "@ai-sdk/google";
import { APICallError } from "@ai-sdk/provider";
import { ApiError, GenerateVideosOperation, GoogleGenAI } from "@google/genai";
import type { QueueClient, QueueDriver } from "./sdk-drivers.ts";

type Names = keyof QueueDriver["errors"];
const names: readonly Names[] = ["key", "credit", "rate", "invalid", "content", "model"];
const everyErrorIs = (own: QueueDriver["errors"][Names]): QueueDriver["errors"] =>
  Object.fromEntries(names.map((name) => [name, own])) as Record<Names, typeof own>;

function connectGemini(baseURL: string, apiKey: string): QueueClient {
  const veo = createGoogle({ baseURL, apiKey }).video("veo-3.1-generate-preview");
  const httpOptions = { baseUrl: new URL(baseURL).origin, apiVersion: "v1beta" };
  const images = new GoogleGenAI({ apiKey, httpOptions });
  const look = async (operationName: string) => {
    const found = await veo.doStatus?.({ operation: { operationName } });
    if (found === undefined) throw new Error("The client has no jobs.");
    return found;
  };
  return {
    async submit(more = {}) {
      const started = await veo.doStart?.({
        ...{ prompt: "Waves", n: 1, aspectRatio: "16:9", duration: 8, resolution: "1920x1080", image: undefined },
        ...{ fps: undefined, seed: undefined, frameImages: undefined, inputReferences: undefined },
        ...{ generateAudio: undefined, providerOptions: { google: { personGeneration: "allow_adult", ...more } } },
      });
      const { operationName } = (started?.operation ?? {}) as { operationName?: string };
      return operationName ?? "";
    },
    poll: async (id) => (await look(id)).status,
    async getOutput(id) {
      const found = await look(id);
      if (found.status === "error") throw new Error(found.error.replace("Video generation failed: ", ""));
      const [video] = found.status === "completed" ? found.videos : [];
      return video?.type === "url" ? video.url : "";
    },
    async draw() {
      const made = await images.models.generateContent({
        model: "gemini-3-pro-image",
        contents: "A barn",
        config: { responseModalities: ["IMAGE"], imageConfig: { aspectRatio: "16:9", imageSize: "2K" } },
      });
      return made.data ?? "";
    },
  };
}

function connectVertex(baseUrl: string, apiKey: string): QueueClient {
  const client = new GoogleGenAI({ vertexai: true, apiKey, httpOptions: { baseUrl: new URL(baseUrl).origin } });
  const look = async (id: string) => {
    const operation = Object.assign(new GenerateVideosOperation(), { name: id });
    return await client.operations.getVideosOperation({ operation });
  };
  return {
    async submit(more = {}) {
      // The client sends nothing that it does not know, so a surprise is a wrong value.
      const durationSeconds = Object.keys(more).length === 0 ? 8 : 5;
      const { name } = await client.models.generateVideos({
        model: "veo-3.1-generate-001",
        source: { prompt: "Waves" },
        config: { aspectRatio: "16:9", durationSeconds, resolution: "1080p", generateAudio: true, numberOfVideos: 1 },
      });
      return name ?? "";
    },
    poll: async (id) => ((await look(id)).done === true ? "done" : "running"),
    async getOutput(id) {
      const { error, response } = await look(id);
      if (error !== undefined) throw new Error(String(error.message));
      const [video] = response?.generatedVideos ?? [];
      if (video === undefined) throw new Error(response?.raiMediaFilteredReasons?.[0]);
      return `data:video/mp4;base64,${video.video?.videoBytes}`;
    },
    async draw() {
      const { generatedImages = [] } = await client.models.generateImages({
        model: "imagen-4.0-generate-001",
        prompt: "A barn",
        config: { numberOfImages: 1, aspectRatio: "16:9", includeRaiReason: true },
      });
      return generatedImages[0]?.image?.imageBytes ?? "";
    },
  };
}

export const geminiDriver: QueueDriver = {
  connect: connectGemini,
  errors: everyErrorIs(APICallError),
  words: { queued: "pending", running: "pending", done: "completed" },
  hidesRefusals: true,
};

export const vertexDriver: QueueDriver = {
  connect: connectVertex,
  errors: everyErrorIs(ApiError),
  words: { queued: "running", running: "running", done: "done" },
};
