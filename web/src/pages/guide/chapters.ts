import type { Block } from "../../api/guide-document.ts";

type Chapter = {
  /** Last segment of its URL, and its file name. The first chapter lives at the guide's own URL. */
  id: string;
  title: string;
  load(): Promise<{ blocks: Block[] }>;
};

type ChapterGroup = { name: string; chapters: readonly [Chapter, ...Chapter[]] };

/** The chapters are the repository's documents, unchanged. */
export const chapterGroups: readonly [ChapterGroup, ...ChapterGroup[]] = [
  {
    name: "Get started",
    chapters: [
      { id: "quick-start", title: "Quick start", load: () => import("../../../../docs/api/quick-start.md") },
      { id: "models", title: "Models, prices, limits", load: () => import("../../../../docs/api/models.md") },
      {
        id: "openai-clients",
        title: "OpenAI's clients",
        load: () => import("../../../../docs/api/openai-clients.md"),
      },
      { id: "agents", title: "Agents", load: () => import("../../../../docs/api/agents.md") },
      { id: "keys", title: "API keys", load: () => import("../../../../docs/api/keys.md") },
    ],
  },
  {
    name: "Generate",
    chapters: [
      { id: "chat", title: "Chat, streams, tools", load: () => import("../../../../docs/api/chat.md") },
      { id: "responses", title: "Responses", load: () => import("../../../../docs/api/responses.md") },
      { id: "messages", title: "Messages (Anthropic)", load: () => import("../../../../docs/api/messages.md") },
      { id: "embeddings", title: "Embeddings", load: () => import("../../../../docs/api/embeddings.md") },
      { id: "transcription", title: "Transcription", load: () => import("../../../../docs/api/transcription.md") },
      { id: "media", title: "Images, video, speech", load: () => import("../../../../docs/api/media.md") },
      { id: "dramas", title: "Dramas", load: () => import("../../../../docs/api/dramas.md") },
    ],
  },
  {
    name: "Reliability",
    chapters: [
      { id: "idempotency", title: "Idempotency", load: () => import("../../../../docs/api/idempotency.md") },
      { id: "webhooks", title: "Webhooks", load: () => import("../../../../docs/api/webhooks.md") },
      { id: "quotes", title: "Quotes", load: () => import("../../../../docs/api/quotes.md") },
      { id: "usage", title: "Usage and charges", load: () => import("../../../../docs/api/usage.md") },
      { id: "requests", title: "Request log", load: () => import("../../../../docs/api/requests.md") },
      { id: "errors", title: "Errors", load: () => import("../../../../docs/api/errors.md") },
    ],
  },
  {
    name: "Clients",
    chapters: [
      {
        id: "browser-authorization",
        title: "Browser authorization",
        load: () => import("../../../../docs/api/browser-authorization.md"),
      },
      { id: "command-line", title: "Command line", load: () => import("../../../../docs/api/command-line.md") },
    ],
  },
];

export const firstChapter: Chapter = chapterGroups[0].chapters[0];

const chapters = chapterGroups.flatMap((group) => group.chapters);

export function findChapter(id: string | undefined): Chapter | null {
  return id === undefined ? firstChapter : (chapters.find((chapter) => chapter.id === id) ?? null);
}

export function findNeighbours(chapter: Chapter): { previous: Chapter | null; next: Chapter | null } {
  const at = chapters.indexOf(chapter);
  return { previous: chapters[at - 1] ?? null, next: chapters[at + 1] ?? null };
}
