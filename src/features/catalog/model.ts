export const modelTypes = ["chat", "image", "video", "avatar", "drama", "speech"] as const;
export const modelStatuses = ["available", "degraded", "unavailable", "deprecated"] as const;

export type ModelType = (typeof modelTypes)[number];
export type ModelStatus = (typeof modelStatuses)[number];

export type Model = {
  id: string;
  name: string;
  type: ModelType;
  status: ModelStatus;
  logo: string;
  description: string;
  advantages: readonly string[];
  scenarios: readonly string[];
  capabilities: readonly string[];
  createdAt: Date;
};
