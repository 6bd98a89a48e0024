import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { addSpeechRoutes, type SpeechDependencies } from "./speech-routes.ts";

export type Speech = {
  /** POST /audio/speech: behind the API key. */
  addRoutes(v1: HttpServer): void;
};

export function createSpeech(dependencies: SpeechDependencies): Speech {
  return { addRoutes: (v1) => addSpeechRoutes(v1, dependencies) };
}
