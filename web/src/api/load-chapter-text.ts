import { connection } from "./console-api.ts";

type ChapterText = { id: string; load(): Promise<{ default: string }> };

/** The text of a chapter, which comes with the site's own files. Its key is its id: functions are no part of keys. */
export async function loadChapterText({ load }: ChapterText): Promise<string> {
  try {
    return (await load()).default;
  } catch (cause) {
    connection.suspect();
    throw new Error("The chapter could not be loaded. If the site was updated, reloading the page helps.", { cause });
  }
}
