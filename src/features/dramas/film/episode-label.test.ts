import { expect, test } from "vitest";
import { labelEpisode } from "./episode-label.ts";

test.each([
  ["en", "Episode 3"],
  ["en-GB", "Episode 3"],
  ["zh", "第3集"],
  ["zh-Hans", "第3集"],
  ["ja", "第3話"],
  ["de_AT", "Folge 3"],
  ["FR", "Épisode 3"],
  ["es", "Episodio 3"],
  ["ar", "الحلقة 3"],
  ["tlh", "Episode 3"],
  ["constructor", "Episode 3"],
])("in %s it is %s", (language, label) => {
  expect(labelEpisode(3, language)).toBe(label);
});
