package io.ghidr.adapter.ghidra;

import java.nio.file.Path;

/**
 * What to analyse, into what, within which limits.
 *
 * @param sample the staged Sample
 * @param projectDirectory empty directory for the project
 * @param factsDirectory directory for the facts files
 * @param timeoutSeconds native analysis time-out
 * @param maxCpu processor cores that the analysis may use
 * @param maxFactsBytes size limit of each facts file
 */
public record AnalysisRequest(
    Path sample,
    Path projectDirectory,
    Path factsDirectory,
    int timeoutSeconds,
    int maxCpu,
    long maxFactsBytes) {}
