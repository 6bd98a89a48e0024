// @module-tag extended
import sharp from "sharp";
import { expect, test } from "vitest";
import { compareBytes, createCall, createInput, openTestStudio, studioMsMax } from "../../harness/media/test-studio.ts";

const plain = "No captions, no text, no watermark.";
const picture = { type: "image", prompt: "", width: 480, height: 320, count: 1 } as const;

type Pixels = { data: Buffer; width: number; height: number };
type Place = { left: number; right: number; top: number; bottom: number; count: number };

async function readPixels(image: Buffer): Promise<Pixels> {
  const { data, info } = await sharp(image).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** The area of a colour, as shares of the image. */
function findColour({ data, width, height }: Pixels, isColour: (rgb: readonly number[]) => boolean): Place {
  const place = { left: 1, right: 0, top: 1, bottom: 0, count: 0 };
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    if (!isColour([...data.subarray(pixel * 3, pixel * 3 + 3)])) continue;
    const [x, y] = [(pixel % width) / width, Math.floor(pixel / width) / height];
    place.left = Math.min(place.left, x);
    place.right = Math.max(place.right, x);
    place.top = Math.min(place.top, y);
    place.bottom = Math.max(place.bottom, y);
    place.count += 1 / (width * height);
  }
  return place;
}

const isMagenta = ([red = 0, green = 0, blue = 0]: readonly number[]): boolean =>
  red > 90 && blue > 90 && green < 0.4 * Math.min(red, blue);
const isLime = ([red = 0, green = 0, blue = 0]: readonly number[]): boolean =>
  green > 100 && Math.max(red, blue) < 0.55 * green;

/** A disc on an even ground, like a person in front of a wall. */
async function drawDisc(colour: string, ground: string, size = 400): Promise<Buffer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}"><rect width="100%" height="100%" fill="${ground}"/><circle cx="50%" cy="50%" r="32%" fill="${colour}"/></svg>`;
  return sharp(Buffer.from(svg)).png().toBuffer();
}

function drawFlat(colour: string): Promise<Buffer> {
  return sharp({ create: { width: 300, height: 300, channels: 3, background: colour } })
    .png()
    .toBuffer();
}

/** The share of the caption corner that is as white as letters. */
function measureLetters({ data, width, height }: Pixels): number {
  let count = 0;
  for (let y = Math.floor(height * 0.82); y < height; y += 1) {
    for (let x = 0; x < width * 0.6; x += 1) {
      const at = (y * width + x) * 3;
      if (Math.min(data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0) > 190) count += 1;
    }
  }
  return count;
}

test("a prompt that asks for no lettering gets none", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const draw = async (prompt: string): Promise<number> =>
    measureLetters(await readPixels((await studio.make({ ...picture, prompt }))[0] ?? Buffer.alloc(0)));
  expect(await draw("A dark kitchen at midnight, nobody is there")).toBeGreaterThan(40);
  expect(await draw("A dark kitchen at midnight, nobody is there. No captions.")).toBe(0);
  expect(await draw("A dark kitchen at midnight, nobody is there, WITHOUT CAPTIONS")).toBe(0);
});

test("reference images appear in the prompt's scene, in the order of their numbers", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const prompt = `Medium shot. A kitchen at night. Anna: red hair. Ben: tall. Reference 1 shows Anna. Reference 2 shows Ben. ${plain}`;
  const [lime, magenta] = [await drawFlat("#20e020"), await drawFlat("#e020e0")].map((bytes) =>
    createInput("image", bytes, "image/png"),
  );
  if (lime === undefined || magenta === undefined) throw new Error("There are two.");
  const [image = Buffer.alloc(0)] = await studio.make({ ...picture, prompt }, [magenta, lime]);
  const pixels = await readPixels(image);
  const [anna, ben] = [findColour(pixels, isMagenta), findColour(pixels, isLime)];
  for (const place of [anna, ben]) {
    expect(place.count).toBeGreaterThan(0.05);
    expect(place.count).toBeLessThan(0.3);
    expect(place.top).toBeGreaterThan(0.1);
    expect(place.bottom).toBeGreaterThan(0.9);
  }
  expect(anna.right).toBeLessThan(ben.left);
  const [swapped = Buffer.alloc(0)] = await studio.make({ ...picture, prompt }, [lime, magenta]);
  const other = await readPixels(swapped);
  expect(findColour(other, isLime).right).toBeLessThan(findColour(other, isMagenta).left);
});

test("a portrait is cut out of its background and keeps its shape, in wide and in tall frames", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const prompt = `Medium shot. A forest in the mist. Reference 1 shows Anna. ${plain}`;
  const input = createInput("image", await drawDisc("#e020e0", "#20e020"), "image/png");
  for (const [width, height] of [
    [480, 320],
    [320, 480],
  ] as const) {
    const [image = Buffer.alloc(0)] = await studio.make({ ...picture, prompt, width, height }, [input]);
    const pixels = await readPixels(image);
    const disc = findColour(pixels, isMagenta);
    const [wide, tall] = [(disc.right - disc.left) * width, (disc.bottom - disc.top) * height];
    expect(wide).toBeGreaterThan(60);
    expect(Math.abs(wide / tall - 1)).toBeLessThan(0.08);
    expect(Math.abs((disc.left + disc.right) / 2 - 0.5)).toBeLessThan(0.03);
    expect(findColour(pixels, isLime).count).toBeLessThan(0.01);
  }
});

test("a portrait on a busy background is cut to head and shoulders", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const squares = Array.from({ length: 800 }, (_, index) => {
    const [x, y] = [index % 40, Math.floor(index / 40)];
    return `<rect x="${x * 10}" y="${(2 * y + (x % 2)) * 10}" width="10" height="10" fill="#20e020"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400"><rect width="100%" height="100%"/>${squares.join("")}<circle cx="200" cy="200" r="110" fill="#e020e0"/></svg>`;
  const input = createInput("image", await sharp(Buffer.from(svg)).png().toBuffer(), "image/png");
  const prompt = `Medium shot. A desert at noon. Reference 1 shows Anna. ${plain}`;
  const [image = Buffer.alloc(0)] = await studio.make({ ...picture, prompt }, [input]);
  const { data, width } = await readPixels(image);
  const cut = await sharp(image).extract({ left: 146, top: 95, width: 28, height: 28 }).png().toBuffer();
  expect(findColour(await readPixels(cut), isLime).count).toBe(0);
  const middle = [...data.subarray((200 * width + 240) * 3, (200 * width + 240) * 3 + 3)];
  expect(isMagenta(middle)).toBe(true);
});

test("a near person fills the frame, and a distant one does not", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const input = createInput("image", await drawFlat("#e020e0"), "image/png");
  const measure = async (camera: string): Promise<number> => {
    const prompt = `${camera}. A street by day. Reference 1 shows Anna. ${plain}`;
    const [image = Buffer.alloc(0)] = await studio.make({ ...picture, prompt }, [input]);
    return findColour(await readPixels(image), isMagenta).count;
  };
  const [close, medium, wide] = [await measure("Close-up"), await measure("Medium shot"), await measure("Wide shot")];
  expect(close).toBeGreaterThan(medium * 1.2);
  expect(medium).toBeGreaterThan(wide * 1.6);
  expect(wide).toBeGreaterThan(0.02);
});

test("people without an image are drawn from their descriptions, each differently", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const draw = async (people: string): Promise<Pixels> => {
    const prompt = `Medium shot. A café by day. ${people} ${plain}`;
    return readPixels((await studio.make({ ...picture, prompt }))[0] ?? Buffer.alloc(0));
  };
  const isGreen = ([red = 0, green = 0, blue = 0]: readonly number[]): boolean =>
    green > red * 1.2 && green > blue * 1.15;
  const isPurple = ([red = 0, green = 0, blue = 0]: readonly number[]): boolean =>
    blue > green * 1.3 && red > green * 1.1;
  const pixels = await draw("Anna: green coat. Ben: purple sweater.");
  const [anna, ben] = [findColour(pixels, isGreen), findColour(pixels, isPurple)];
  expect(anna.count).toBeGreaterThan(0.03);
  expect(ben.count).toBeGreaterThan(0.03);
  const middle = ({ left, right }: Place): number => (left + right) / 2;
  expect(middle(anna)).toBeLessThan(middle(ben));
  const alone = await draw("");
  expect(compareBytes(pixels.data, alone.data)).toBeGreaterThan(6);
});

test("a shot is the same image every time; a missing reference is drawn, and one that is not an image is refused", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const prompt = `Close-up. A bedroom in the morning. Reference 1 shows Anna. Reference 2 shows Ben. ${plain}`;
  const input = createInput("image", await drawFlat("#e020e0"), "image/png");
  const [[one = Buffer.alloc(0)], [other = Buffer.alloc(1)]] = await Promise.all([
    studio.make({ ...picture, prompt }, [input]),
    studio.make({ ...picture, prompt }, [input]),
  ]);
  expect(one.equals(other)).toBe(true);
  const place = findColour(await readPixels(one), isMagenta);
  expect(place.right).toBeLessThan(0.6);
  const broken = createInput("image", Buffer.from("GIF89a and no more"), "image/gif");
  const end = await studio.finish(createCall({ ...picture, prompt }, [broken]));
  expect(end).toMatchObject({ kind: "failed", error: { kind: "rejected" } });
});

test("the smallest and the widest images have room for everyone", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const crowd = Array.from({ length: 8 }, (_, index) => `Man ${index}x: tall.`).join(" ");
  for (const [width, height] of [
    [16, 16],
    [16, 400],
    [400, 16],
  ] as const) {
    const [image = Buffer.alloc(0)] = await studio.make(
      { ...picture, prompt: `A room. ${crowd} Reference 1 shows Man 0x. ${plain}`, width, height },
      [createInput("image", await drawFlat("#e020e0"), "image/png")],
    );
    expect(await sharp(image).metadata()).toMatchObject({ width, height });
  }
});
