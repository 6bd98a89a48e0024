import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { addTranscriptionRoutes, type TranscriptionRouteDependencies } from "./transcription-routes.ts";

export type Transcriptions = {
  /** POST /audio/transcriptions, POST /audio/translations: behind the API key. */
  addRoutes(v1: HttpServer): void;
};

export function createTranscriptions(dependencies: TranscriptionRouteDependencies): Transcriptions {
  return { addRoutes: (v1) => addTranscriptionRoutes(v1, dependencies) };
}
