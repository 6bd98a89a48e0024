import type { TaskType } from "./task.ts";

const minute = 60;
const hour = 60 * minute;

/** Minimum and default deadline in seconds. */
export const deadlineTable = {
  image: { secondsMin: minute, secondsUsual: hour },
  speech: { secondsMin: minute, secondsUsual: hour },
  video: { secondsMin: 10 * minute, secondsUsual: 6 * hour },
  avatar: { secondsMin: 10 * minute, secondsUsual: 6 * hour },
  drama: { secondsMin: 30 * minute, secondsUsual: 24 * hour },
} as const satisfies Record<TaskType, { secondsMin: number; secondsUsual: number }>;

export const deadlineSecondsMax = 7 * 24 * hour;
