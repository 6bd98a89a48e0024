import type { AttachedImage } from "./conversation.ts";

const imagesMax = 4;
const imageBytesMax = 4 * 1024 * 1024;
export const imageTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** Returns the images, or why one was rejected. */
export async function chooseImages(
  files: readonly File[],
  known: readonly AttachedImage[],
): Promise<{ images: AttachedImage[]; problem: string | null }> {
  const images = [...known];
  for (const file of files) {
    if (!imageTypes.includes(file.type)) {
      return { images, problem: `${file.name} is not a PNG, JPEG, WebP or GIF image. Choose another file.` };
    }
    if (file.size > imageBytesMax) {
      return { images, problem: `${file.name} is too large. Choose an image of up to 4 MB.` };
    }
    if (images.length >= imagesMax) {
      return { images, problem: `A message can have up to ${imagesMax} images. Remove one first.` };
    }
    images.push({ name: file.name, url: await readAsDataUrl(file) });
  }
  return { images, problem: null };
}

async function readAsDataUrl(file: File): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result));
  reader.onerror = () => reject(new Error(`${file.name} cannot be read. Choose another file.`));
  reader.readAsDataURL(file);
  return await promise;
}
