import type { BadgeKind } from "../../design/badge.tsx";

/** Model types in display order. */
export const typeNames: Readonly<Record<string, string>> = {
  chat: "Chat",
  image: "Image",
  video: "Video",
  avatar: "Avatar",
  drama: "Drama",
  speech: "Speech",
  embedding: "Embedding",
  transcription: "Transcription",
};

const capabilityNames: Readonly<Record<string, string>> = {
  chat: "Chat",
  json_schema: "JSON schema",
  audio_driven_avatar: "Speaking avatar",
  drama_video: "Video",
  role_analysis: "Roles",
  script_generation: "Script",
};

export function nameType(type: string): string {
  return typeNames[type] ?? type;
}

/** A readable name, also for unknown capabilities. */
export function nameCapability(capability: string): string {
  const words = capability.replaceAll("_", " ");
  return capabilityNames[capability] ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

const statusLooks: Readonly<Record<string, { kind: BadgeKind; name: string }>> = {
  available: { kind: "good", name: "Available" },
  degraded: { kind: "warning", name: "Degraded" },
  unavailable: { kind: "bad", name: "Unavailable" },
  deprecated: { kind: "warning", name: "Deprecated" },
};

export function describeModelStatus(status: string): { kind: BadgeKind; name: string } {
  return statusLooks[status] ?? { kind: "neutral", name: status };
}
