/** Models of the comparison with a real server go through the same validation as any other. */
export { readModelJson as loadModel } from '../src/model.ts';
