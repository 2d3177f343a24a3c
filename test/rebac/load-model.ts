/** How the comparisons with OpenFGA read a model in its JSON form. */
export { compileModel as loadModel } from '../../src/rebac/model.ts';
