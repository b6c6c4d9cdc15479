import type { AttachedImage } from './images';

const KINDS = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
// Claude scales larger ones down itself: sending them would only take longer
const MAX_SIDE = 1568;
const MAX_BYTES = 1_500_000;

/** The image as it is sent; null where it is none that can be sent. */
export async function readImage(file: Blob): Promise<AttachedImage | null> {
  try {
    const bitmap = await createImageBitmap(file);
    const side = Math.max(bitmap.width, bitmap.height);
    const fits = side <= MAX_SIDE && file.size <= MAX_BYTES && KINDS.has(file.type);
    const blob = fits ? file : await scaled(bitmap, Math.min(1, MAX_SIDE / side));
    bitmap.close();
    return blob && { mediaType: blob.type, data: await base64(blob) };
  } catch {
    return null;
  }
}

function scaled(bitmap: ImageBitmap, by: number): Promise<Blob | null> {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * by));
  canvas.height = Math.max(1, Math.round(bitmap.height * by));
  const context = canvas.getContext('2d');
  if (!context) return Promise.resolve(null);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/webp', 0.9));
}

function base64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

export function imagesIn(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter((file) => file.type.startsWith('image/'));
}
