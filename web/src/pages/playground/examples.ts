import type { ModelDetail } from "../../api/fetch-catalog.ts";
import type { MediaType } from "./media-fields.ts";
import type { MediaValues } from "./media-values.ts";

/** A name, and the form values. */
export type Example = { name: string; values: MediaValues };
export type ChatExample = { name: string; text: string };

export const chatExamples: readonly ChatExample[] = [
  {
    name: "Explain a trade-off",
    text: "Explain to a new engineer when a queue makes a system more reliable and when it only hides a problem. Use one example of each, in at most 150 words.",
  },
  {
    name: "Turn notes into a table",
    text: "Turn these notes into a Markdown table with the columns Who, What and By when:\n\nAnna sends the contract on Friday. Ben books the room, today if possible. Carla and Ben review the slides before Thursday noon.",
  },
  {
    name: "Write a function",
    text: "Write a TypeScript function that groups dates into runs of consecutive days, and three short tests for it. Say what happens across a change of daylight saving time.",
  },
];

const mediaExamples: Record<MediaType, readonly Example[]> = {
  image: [
    {
      name: "Product photo",
      values: {
        prompt:
          "A ceramic pour-over coffee set on a pale oak table, soft morning light from the left, shallow depth of field, steam rising, catalogue photograph",
      },
    },
    {
      name: "Poster",
      values: {
        prompt:
          "A flat, two-colour travel poster of a lighthouse on a cliff at dusk, long shadows, wide empty sky for a headline",
      },
    },
    {
      name: "Portrait",
      values: {
        prompt:
          "Head and shoulders portrait of a ship's carpenter in her fifties, grey curls, navy work jacket, looking into the camera, plain light background, even studio light",
      },
    },
  ],
  video: [
    {
      name: "Slow reveal",
      values: {
        prompt:
          "The camera glides over a foggy harbour at dawn until a single red fishing boat comes into view, water nearly still, gulls in the distance",
      },
    },
    {
      name: "Close-up",
      values: {
        prompt: "Macro shot of honey poured over fresh figs in slow motion, warm kitchen light, dark background",
      },
    },
    {
      name: "Walk through a room",
      values: {
        prompt:
          "A steady walk through a bright loft apartment in the afternoon: bookshelves, a long table, plants at the window, the city outside",
      },
    },
  ],
  avatar: [],
  drama: [
    {
      name: "A page of screenplay",
      values: {
        title: "The Keeper's Light",
        script: `INT. LIGHTHOUSE KITCHEN - NIGHT

Rain beats against the window. MARA, 30, blue sweater, puts a kettle on the stove. OLD TOM, a tall man with a grey beard, sits by the lamp.

OLD TOM
Listen. The horn has stopped.

MARA
Then the lamp upstairs is out. There are boats on the water, Tom.

OLD TOM
A hundred and forty steps. My knees will not carry me tonight.

MARA
Mine will.

EXT. BEACH - DAWN

The sea is calm. Mara and Old Tom watch a boat come in.

OLD TOM
You were not afraid?

MARA
I was. I counted the steps instead.`,
        aspect_ratio: "16:9",
      },
    },
    {
      name: "A short story, upright",
      values: {
        title: "Last Train",
        script:
          "Noor runs down the stairs and sees the doors close. On the empty platform, an old man opens a cello case and begins to play. When he stops, a light appears in the tunnel.",
        aspect_ratio: "9:16",
      },
    },
  ],
  speech: [
    {
      name: "Announcement",
      values: {
        input:
          "Good evening. The ferry to the islands leaves in ten minutes from pier four. Please have your tickets ready, and mind the step.",
      },
    },
    {
      name: "Bedtime story",
      values: {
        input:
          "Far out, where the map is only blue, there lived a whale who collected echoes. Every night she let one of them go.",
      },
    },
    {
      name: "Voicemail",
      values: {
        input:
          "Hi, this is the bakery on Mill Street. Your order for Saturday is ready. We close at six, so come by whenever it suits you.",
      },
    },
  ],
};

/** Examples for a model; none if it needs the user's own files. */
export function listExamples({ type, capabilities }: Pick<ModelDetail, "type" | "capabilities">): readonly Example[] {
  if (type === "chat" || type === "embedding" || type === "transcription") return [];
  const needsImages =
    (type === "image" || type === "video") && !capabilities.some((each) => each.startsWith("text_to"));
  return needsImages ? [] : mediaExamples[type];
}
