import { expect, test } from "vitest";
import { castRoles } from "./cast-roles.ts";
import { guessGender } from "./given-names.ts";

const voices = ["alloy", "echo", "fable", "nova", "onyx", "shimmer"];

function cast(
  speakers: readonly (string | null)[],
  { characters = [] as string[], action = "", given = voices as readonly string[] } = {},
) {
  const lines = speakers.map((speaker, index) => ({ number: index + 1, speaker, text: "Hello." }));
  const scene = { id: "scene-1", heading: "", place: "", time: "", action, lines };
  return castRoles({ voices: given, characters, scenes: [scene] });
}

test("everyone named or speaking is a role once, in the first spelling; the narrator is not", () => {
  const { roles } = cast(["ANNA", null, "Ben", "anna", "Narrator", "旁白"], { characters: ["Anna", "Cat", "CAT"] });
  expect(roles.map(({ name }) => name)).toEqual(["Anna", "Cat", "Ben"]);
});

test("each role has a voice that fits the name, and the narrator another", () => {
  const { roles, narrator_voice: narrator } = cast(["Anna", "Ben", "小红", "小明"]);
  expect(roles.map(({ voice }) => voice)).toEqual(["nova", "onyx", "shimmer", "echo"]);
  expect(narrator).toBe("fable");
});

test("voices are shared only if there are too few, and evenly", () => {
  const names = Array.from({ length: 9 }, (_, index) => `Anna${index}`);
  const { roles, narrator_voice: narrator } = cast(names);
  expect(new Set(roles.slice(0, 6).map(({ voice }) => voice)).size).toBe(6);
  expect(new Set(roles.slice(6).map(({ voice }) => voice)).size).toBe(3);
  expect(roles.slice(6).map(({ voice }) => voice)).not.toContain(narrator);
  const alone = cast(["Anna"], { given: ["only"] });
  expect([alone.narrator_voice, alone.roles[0]?.voice]).toEqual(["only", "only"]);
});

test("unknown voices fit any role, and there is always a voice", () => {
  const { roles, narrator_voice: narrator } = cast(["Anna", "Ben"], { given: ["x1", "x2", "x3", "x1"] });
  expect([...roles.map(({ voice }) => voice), narrator].toSorted()).toEqual(["x1", "x2", "x3"]);
  expect(cast([], { given: [] }).narrator_voice).not.toBe("");
});

test("looks come from the script, and the rest is derived from the name", () => {
  const action = "ANNA (30, red coat) leans on the table. Ben, grey beard, tall, waits outside.";
  const { roles } = cast(["Anna", "Ben"], { action });
  const [anna, ben] = roles;
  expect(anna?.appearance).toMatch(/^Woman, about 30, red coat, [a-z -]+ hair\.$/);
  expect(ben?.appearance).toMatch(/^About \d\d, man, grey beard, tall, [a-z -]+ hair, [a-z ]+\.$/);
  expect(anna?.description).toMatch(/\. Anna leans on the table\.$/);
  expect(cast(["Anna", "Ben"], { action })).toEqual({ narrator_voice: "fable", roles });
});

test("no two roles wear the same colour while there are enough", () => {
  const { roles } = cast(["Ada", "Bea", "Cleo", "Dora", "Edda", "Fay", "Gil", "Hal"]);
  const clothes = roles.map(({ appearance }) =>
    appearance
      .split(", ")
      .at(-1)
      ?.replace(/ \w+\.$/, ""),
  );
  expect(new Set(clothes).size).toBe(8);
});

test("children are young and grandparents old", () => {
  const { roles } = cast(["Little Girl", "Grandpa", "奶奶"]);
  expect(roles[0]?.appearance).toMatch(/^About 9, girl/);
  expect(roles[1]?.appearance).toMatch(/^About 70, man, .*white hair/);
  expect(roles[2]?.appearance).toMatch(/^About 70, woman/);
});

test("there are at most forty roles", () => {
  expect(cast(Array.from({ length: 90 }, (_, index) => `Guest ${index}`)).roles).toHaveLength(40);
});

test.each([
  ["Anna", "female"],
  ["Mr. Lee", "male"],
  ["Queen of Hearts", "female"],
  ["小红", "female"],
  ["小明", "male"],
  ["أحمد", null],
  ["Luca", "male"],
  ["Xq", null],
])("%s is %s", (name, gender) => {
  expect(guessGender(name)).toBe(gender);
});
