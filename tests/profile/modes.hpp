// SPDX-License-Identifier: Apache-2.0
// Each is a way to use OpenCL, and writes to stdout what must be the same under a survey.
#pragma once

#include <span>
#include <string>

namespace surveyed {

using Words = std::span<const std::string>;

int many(Words words);      ///< COUNT launches, one after the other; their time, on request
int threads(Words words);   ///< four threads, a queue and a kernel each
int events(Words words);    ///< an out-of-order queue, and events of the program's own
int programs(Words words);  ///< kernels of one name: two texts, two sets of options, a binary
/// A program of which there is a binary alone; with a WORD, source in the run that makes this file.
int binary(Words words);
int tasks(Words words);         ///< clEnqueueTask, kernels that are released at once, a clone
int sizes(Words words);         ///< COUNT launches of a size each
int gaps(Words words);          ///< what cannot be timed: refused, host functions, SVM besides
int queues(Words words);        ///< what queues and events say of themselves
int unfinished(Words words);    ///< a launch that waits for something that never comes
int crash(Words words);         ///< by a signal, some time after the launches
int leave(Words words);         ///< by _exit(3), some time after the launches
int fork_away(Words words);     ///< a child uses OpenCL, and the parent as well
int orphan(Words words);        ///< a child that ends after its parent
int parts(Words words);         ///< parts of buffers, local memory, structs, null, an offset
int images(Words words);        ///< kernels with images of each kind, and samplers
int opengl(Words words);        ///< a kernel that draws on a texture of OpenGL
int pipe(Words words);          ///< a kernel that gets a pipe
int intermediate(Words words);  ///< a program that came in an intermediate language
int headers(Words words);       ///< a kernel whose text includes headers from the folder WORD
int held_back(Words words);     ///< launches behind an event of the program's own
int polls(Words words);         ///< a kernel that waits for a word of the host's memory
int drops(Words words);         ///< queues are released before their events
int dies(Words words);          ///< by a signal, when it is captured
int second(Words words);        ///< three kernels, a third of a second each, on SIDE * SIDE floats
int nothing(Words words);       ///< no OpenCL; ends with status WORD

}  // namespace surveyed
