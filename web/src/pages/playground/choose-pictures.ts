import type { Picture } from "./conversation.ts";

const picturesMax = 4;
const pictureBytesMax = 4 * 1024 * 1024;
export const pictureTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** Pictures that go into the message itself; or what is wrong with one of them. */
export async function choosePictures(
  files: readonly File[],
  known: readonly Picture[],
): Promise<{ pictures: Picture[]; problem: string | null }> {
  const pictures = [...known];
  for (const file of files) {
    if (!pictureTypes.includes(file.type)) {
      return { pictures, problem: `${file.name} is no PNG, JPEG, WebP or GIF picture.` };
    }
    if (file.size > pictureBytesMax) {
      return { pictures, problem: `${file.name} is too large: a picture can have up to 4 MB.` };
    }
    if (pictures.length >= picturesMax) {
      return { pictures, problem: `A message can have up to ${picturesMax} pictures here.` };
    }
    pictures.push({ name: file.name, url: await readAsDataUrl(file) });
  }
  return { pictures, problem: null };
}

async function readAsDataUrl(file: File): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result));
  reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
  reader.readAsDataURL(file);
  return await promise;
}
