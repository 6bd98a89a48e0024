type ChapterText = { id: string; load(): Promise<{ default: string }> };

/** The text of a chapter, which comes with the site's own files. Its key is its id: functions are no part of keys. */
export async function loadChapterText({ load }: ChapterText): Promise<string> {
  return (await load()).default;
}
